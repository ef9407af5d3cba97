import { describe, expect, it } from 'vitest';
import { tokens } from '../../../src/index.js';
import { SharedHoldings, SharedPrefixes } from '../../../src/kv/shared-prefixes.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { cancelled, ended, sized, woke } from '../../support/core-events.js';

const PROMPT = 5_000;
const FAMILY = { id: 7, tokens: PROMPT };

/** A program of one call comes and goes, of whose prompt the engine found so much cached. */
function ran(desk: Desk, id: string, cached?: number, prompt = PROMPT, family = FAMILY, program = id): void {
  desk.serve(id, { program, prompt, family }, { prompt, output: 0, ...(cached !== undefined && { cached }) });
  if (program === id) desk.tell(ended(id));
}

/** An engine on which programs have run whose first prompts began with these tokens of others'. */
function taught(cached: number | undefined, { second = false, reserveMs = 1e7 } = {}): Desk {
  const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0, reserveMs } }).with('A', sized(300, 100_000));
  for (let n = 0; n < 80; n += 1) {
    ran(desk, `${n}`, cached, PROMPT, FAMILY, `p${n}`);
    if (second) ran(desk, `${n}+`, PROMPT, PROMPT, FAMILY, `p${n}`);
    desk.tell(ended(`p${n}`));
  }
  return desk;
}

/** How many newcomers are let in at once. */
function letIn(desk: Desk, count: number, factsOf: (n: number) => Parameters<Desk['arrive']>[1]): number {
  const sent = Array.from({ length: count }, (_, n) => desk.arrive(`new${n}`, { program: `new${n}`, ...factsOf(n) }));
  return sentOut(sent.flat()).length;
}

const ofFamily = (desk: Desk, thread = '') => letIn(desk, 150, () => ({ prompt: PROMPT, family: FAMILY, thread }));

describe('what programs have in common', () => {
  it('is counted once, and of each only the rest', () => {
    // 4,000 + 96 x 1,000 = 100,000
    expect(ofFamily(taught(4_000))).toBe(96);
    expect(ofFamily(taught(4_000), 'sub-agent')).toBe(96);
  });

  it('is nothing where engines find nothing of a first prompt in their caches, or do not say', () => {
    expect(ofFamily(taught(0))).toBe(20);
    expect(ofFamily(taught(undefined))).toBe(20);
  });

  it('is not what a program finds of its own later', () => {
    expect(ofFamily(taught(0, { second: true }))).toBe(20);
  });

  it('waits for room where it is missing, and holds up nobody meanwhile, until it reserves that room', () => {
    const desk = taught(4_000, { reserveMs: 1_000 });
    desk.pass(1_000_000);
    desk.arrive('run', { prompt: 96_000 });
    expect(sentOut(desk.arrive('first', { prompt: PROMPT, family: FAMILY }))).toEqual([]);
    expect(sentOut(desk.arrive('small', { prompt: 100 }))).toEqual(['small@A']);
    desk.pass(1_000);
    expect(sentOut(desk.arrive('late', { prompt: 100 }))).toEqual([]);
    expect(desk.engine('A').reservedFor).toBe('first');
    expect(sentOut(desk.finish('run'))).toEqual(['first@A', 'late@A']);
  });

  it('is learnt anew when it changes', () => {
    const desk = taught(4_000);
    for (let n = 0; n < 400; n += 1) ran(desk, `other${n}`, 0);
    expect(ofFamily(desk)).toBe(20);
  });

  it('is told by the many: a prompt that was sent before, as when a call is repeated, tells little', () => {
    const desk = taught(0);
    ran(desk, 'again', PROMPT, PROMPT, FAMILY, 'again+');
    expect(ofFamily(desk)).toBe(20);
  });
});

/** An engine of 400,000 tokens on which 8 programs of each family have run, most of whose prompts were found cached. */
function restarted(families: number, beginningTokens: number): Desk {
  const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0, forecast: 'none' } }).with(
    'A',
    sized(300, 400_000),
  );
  for (let n = 0; n < 8 * families; n += 1)
    ran(desk, `p${n}`, 49_000, 50_000, { id: n % families, tokens: beginningTokens });
  return desk;
}

describe('the caches of programs that a restarted gateway does not know', () => {
  it('are not taken for shared beyond the beginning of their family', () => {
    // 2,000 + 8 x 48,000; counting 49,000 as shared, all 40 would go, 2,000,000 tokens in all.
    const family = { id: 0, tokens: 2_000 };
    expect(letIn(restarted(1, 2_000), 40, () => ({ prompt: 50_000, family }))).toBe(8);
  });

  it('are not shared with anyone where no family is known', () => {
    expect(letIn(restarted(1, 49_000), 40, () => ({ prompt: 50_000 }))).toBe(8);
  });
});

describe('families', () => {
  it('count their beginnings apart, each once', () => {
    const desk = restarted(8, 45_000);
    // 8 x 45,000 + 8 x 5,000.
    expect(letIn(desk, 40, (n) => ({ prompt: 50_000, family: { id: n % 8, tokens: 45_000 } }))).toBe(8);
    expect(desk.engine('A').workingSetTokens).toBe(400_000);
  });

  it('count a beginning for as long as a context that begins so counts', () => {
    const desk = restarted(2, 45_000);
    for (const id of [0, 1])
      desk.arrive(`n${id}`, { program: `n${id}`, prompt: 50_000, family: { id, tokens: 45_000 } });
    expect(desk.engine('A').workingSetTokens).toBe(100_000);
    desk.tell(cancelled('n0'));
    desk.tell(ended('n0'));
    expect(desk.engine('A').workingSetTokens).toBe(50_000);
    desk.finish('n1', { prompt: 50_000, output: 0, cached: 49_000 });
    desk.pass(10_000_000);
    desk.tell(woke);
    expect(desk.engine('A').workingSetTokens).toBe(0);
  });
});

describe('parallel calls of a thread', () => {
  it('count no less than nothing where the engine found more cached than their prompts were taken to have', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }).with('A', sized(300, 100_000));
    desk.arrive('other', { program: 'q', prompt: 7_000 });
    for (const call of ['a', 'b']) desk.arrive(call, { program: 'p', thread: 'sub', prompt: 100 });
    desk.finish('a', { prompt: 6_000, output: 0, cached: 6_000 });
    expect(desk.engine('A').workingSetTokens).toBe(7_000 + 100);
  });

  it('share the prompt of the longest, and each reserves an output of its own', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 256 } }).with('A', sized(300, 100_000));
    const workingSet = () => desk.engine('A').workingSetTokens;
    for (let n = 0; n < 10; n += 1) desk.arrive(`${n}`, { program: 'p', thread: 'sub', prompt: 1_000 + n });
    expect(workingSet()).toBe(1_009 + 10 * 256);
    for (let n = 0; n < 9; n += 1) desk.finish(`${n}`, { prompt: 1_000 + n, output: 10 });
    expect(workingSet()).toBe(1_009 + 256);
  });
});

it('no prefix is longer than the prompt', () => {
  const prefixes = new SharedPrefixes();
  const family = { id: 1, tokens: tokens(8_000) };
  for (let program = 0; program < 5; program += 1) prefixes.began(family, 8_000);
  expect([20_000, 500].map((promptTokens) => prefixes.expectedTokens(family, promptTokens))).toEqual([8_000, 500]);
});

it('a beginning counts at the longest length that any context of its family has', () => {
  const [holdings, family] = [new SharedHoldings(), { id: 1, tokens: tokens(9_000) }];
  for (const length of [3_000, 5_000, 4_000]) holdings.count(family, length, 1);
  expect([holdings.tokens, holdings.missingTokens(family, 6_000)]).toEqual([5_000, 1_000]);
  holdings.count(family, 5_000, -1);
  expect(holdings.tokens).toBe(4_000);
});
