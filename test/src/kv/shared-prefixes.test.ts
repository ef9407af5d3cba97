import { describe, expect, it } from 'vitest';
import { Desk } from '../../support/core-desk.js';
import { ended } from '../../support/core-events.js';

const PROMPT = 5_000;

/** An engine on which programs have run whose first prompts began with these tokens of others'. */
function taught(cached: number | undefined, { gate = 1, programs = 80, second = false } = {}): Desk {
  const desk = new Desk({ admission: { gate, outputReserveTokens: 0 } });
  desk.join('A', { window: 300, capacity: 100_000 });
  for (let n = 0; n < programs; n += 1) {
    const told = cached === undefined ? {} : { cached };
    desk.arrive(`${n}`, { program: `p${n}`, prompt: PROMPT });
    desk.finish(`${n}`, { prompt: PROMPT, output: 0, ...told });
    if (second) {
      desk.arrive(`${n}+`, { program: `p${n}`, prompt: PROMPT });
      desk.finish(`${n}+`, { prompt: PROMPT, output: 0, cached: PROMPT });
    }
    desk.tell(ended(`p${n}`));
  }
  return desk;
}

/** How many newcomers are let in at once. */
function letIn(desk: Desk, thread?: string): number {
  let sent = 0;
  for (let n = 0; n < 150; n += 1) {
    const commands = desk.arrive(`new${n}`, { program: `new${n}`, prompt: PROMPT, ...(thread && { thread }) });
    sent += commands.filter(({ type }) => type === 'dispatch').length;
  }
  return sent;
}

describe('what programs have in common', () => {
  it('is counted once, and of each only the rest', () => {
    // 4,000 + 96 x 1,000 = 100,000
    expect(letIn(taught(4_000))).toBe(96);
    expect(letIn(taught(4_000), 'sub-agent')).toBe(96);
  });

  it('is nothing where engines find nothing of a first prompt in their caches, or do not say', () => {
    expect(letIn(taught(0))).toBe(20);
    expect(letIn(taught(undefined))).toBe(20);
  });

  it('is not what a program finds of its own later', () => {
    expect(letIn(taught(0, { second: true }))).toBe(20);
  });

  it('is learnt anew when it changes', () => {
    const desk = taught(4_000);
    for (let n = 0; n < 400; n += 1) {
      desk.arrive(`other${n}`, { program: `other${n}`, prompt: PROMPT });
      desk.finish(`other${n}`, { prompt: PROMPT, output: 0, cached: 0 });
      desk.tell(ended(`other${n}`));
    }
    expect(letIn(desk)).toBe(20);
  });

  it('is told by the many: a prompt that was sent before, as when a call is repeated, tells little', () => {
    const desk = taught(0);
    desk.arrive('again', { program: 'again', prompt: PROMPT });
    desk.finish('again', { prompt: PROMPT, output: 0, cached: PROMPT });
    expect(letIn(desk)).toBe(20);
  });
});

describe('parallel calls of a thread', () => {
  it('count no less than nothing where the engine found more cached than their prompts were taken to have', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } });
    desk.join('A', { window: 300, capacity: 100_000 });
    desk.arrive('other', { program: 'q', prompt: 7_000 });
    for (const call of ['a', 'b']) desk.arrive(call, { program: 'p', thread: 'sub', prompt: 100 });
    desk.finish('a', { prompt: 6_000, output: 0, cached: 6_000 });
    expect(desk.engine('A').workingSetTokens).toBeGreaterThanOrEqual(7_000 + 6_000);
  });

  it('share the prompt of the longest, and each reserves an output of its own', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 256 } });
    desk.join('A', { window: 300, capacity: 100_000 });
    const workingSet = () => desk.engine('A').workingSetTokens;
    for (let n = 0; n < 10; n += 1) desk.arrive(`${n}`, { program: 'p', thread: 'sub', prompt: 1_000 + n });
    expect(workingSet()).toBe(1_009 + 10 * 256);
    for (let n = 0; n < 9; n += 1) desk.finish(`${n}`, { prompt: 1_000 + n, output: 10 });
    expect(workingSet()).toBe(1_009 + 256);
  });
});
