import { describe, expect, it } from 'vitest';
import { programId, type CallFailed } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { ended, started } from '../../support/core-events.js';

/** For which the engine rests once it said that it is busy: too short for a claim to fade. */
const REST_MS = 1;
const RESIDENTS = Array.from({ length: 8 }, (_, n) => `r${n}`);

/** 8 residents of 10,000 tokens each on an engine of 100,000, all idle. */
function settled(): Desk {
  const desk = new Desk({
    policy: { msPerPromptToken: 100 },
    admission: { gate: 1, outputReserveTokens: 0, forecast: 'none' },
    limits: { attemptsMax: 4 },
  }).with('A', { window: 300, capacity: 100_000 });
  for (const id of RESIDENTS) {
    for (const turn of ['1', '2']) {
      desk.serve(
        id + turn,
        { program: id, prompt: 10_000 },
        { prompt: 10_000, output: 0, cached: turn === '1' ? 0 : 10_000 },
      );
    }
  }
  return desk;
}

/** How many residents are let in at once. */
function letBack(desk: Desk, ids: readonly string[] = RESIDENTS): number {
  return ids.filter((id) => desk.arrive(`${id}-back`, { program: id, prompt: 10_000 }).some(isDispatch)).length;
}

const isDispatch = ({ type }: { readonly type: string }): boolean => type === 'dispatch';

function failWith(desk: Desk, failure: CallFailed['failure']): void {
  desk.arrive('large', { program: 'large', prompt: 95_000 });
  // A newcomer may take it once the claims have faded.
  desk.passTo(desk.nowMs + 200_000);
  expect(desk.dispatchOf('large')).toBeDefined();
  desk.fail('large', failure, REST_MS);
}

/** The large call goes in past all claims, and fails at once. */
function refusedWith(failure: 'refused' | 'busy' | 'broken'): Desk {
  const desk = settled();
  desk.passTo(200_000);
  failWith(desk, failure);
  if (failure !== 'refused') desk.tell(ended('large'));
  return desk;
}

describe('a call that left nothing in the engine’s cache', () => {
  it('has pushed nobody out when its request was refused', () => {
    expect(letBack(refusedWith('refused'))).toBe(8);
  });

  it('has pushed nobody out when the engine was busy', () => {
    const desk = refusedWith('busy');
    desk.tell({ type: 'callCancelled', call: 'large' as never });
    desk.pass(REST_MS);
    expect(letBack(desk)).toBe(8);
  });

  it('has pushed nobody out when the engine broke it, as often as it is tried', () => {
    const desk = refusedWith('broken');
    desk.pass(REST_MS);
    expect(desk.dispatchOf('large')!.reason).toBe('retried');
    desk.fail('large', 'broken', REST_MS);
    desk.tell({ type: 'callCancelled', call: 'large' as never });
    expect(letBack(desk)).toBe(8);
  });

  it.each(['refused', 'busy'] as const)('gives back the claims that it was given (%s)', (failure) => {
    const [desk, control] = [settled(), settled()];
    for (const each of [desk, control]) each.join('A', { window: 300, capacity: 100_000 });
    const before = desk.engine('A').workingSetTokens;
    expect(before).toBeGreaterThan(50_000);
    desk.arrive('r0-large', { program: 'r0', prompt: 95_000 });
    expect(desk.engine('A').workingSetTokens).toBe(95_000);
    desk.fail('r0-large', failure, REST_MS);
    if (failure === 'busy') desk.tell({ type: 'callCancelled', call: 'r0-large' as never });
    expect(desk.engine('A').workingSetTokens).toBe(before);
    for (const each of [desk, control]) each.pass(REST_MS);
    expect(letBack(desk)).toBe(letBack(control));
  });

  it('gives those that it pushed out their places: they had been idle for longest, and go first again', () => {
    const desk = settled();
    desk.passTo(200_000);
    for (const call of ['large', 'next']) {
      desk.arrive(call, { program: call, prompt: 55_000 });
      expect(desk.dispatchOf(call)).toBeDefined();
      if (call === 'large') desk.fail(call, 'refused');
    }
    const cached = RESIDENTS.filter((id) => {
      const record = desk.scheduler.views.record(programId(id));
      return (record?.contexts[''] ?? 0) > 0;
    });
    expect(cached).toEqual(RESIDENTS.slice(4));
  });

  it('is charged nothing, and its program goes on', () => {
    const desk = settled();
    desk.arrive('x', { program: 'x', prompt: 1_000 });
    desk.pass(5_000);
    desk.fail('x', 'refused');
    expect(desk.program('x')).toMatchObject({ serviceMs: 0 });
    expect(desk.engine('A').inFlight).toBe(0);
  });

  it('gives nothing back to threads that have gone on or programs that have ended since', () => {
    const desk = settled();
    desk.arrive('r0-large', { program: 'r0', prompt: 95_000 });
    desk.tell(ended('r1'));
    desk.fail('r0-large', 'refused');
    const before = desk.engine('A').workingSetTokens;
    expect(letBack(desk, ['r0', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'])).toBe(7);
    expect(before).toBeLessThanOrEqual(70_000);
  });

  it('lifts no more than it put in beside calls of its own thread', () => {
    const desk = settled();
    desk.arrive('one', { program: 'r0', prompt: 20_000 });
    desk.arrive('two', { program: 'r0', prompt: 60_000 });
    desk.fail('two', 'refused');
    for (const id of RESIDENTS.slice(1)) desk.arrive(`${id}-back`, { program: id, prompt: 10_000 });
    expect(desk.engine('A').workingSetTokens).toBe(20_000 + 70_000);
    desk.finish('one', { prompt: 20_000, output: 0, cached: 10_000 });
    expect(desk.engine('A').workingSetTokens).toBeLessThanOrEqual(90_000);
  });
});

describe('a call that failed after its first token', () => {
  it('has pushed out what was there', () => {
    const desk = settled();
    desk.arrive('r0-large', { program: 'r0', prompt: 95_000 });
    desk.tell(started('r0-large'));
    desk.fail('r0-large', 'lost');
    // Its own context is all that is left; had it been refused, eight of 10,000 would be.
    expect(desk.engine('A').workingSetTokens).toBeGreaterThan(80_000);
    expect(desk.engine('A').workingSetTokens).toBeLessThanOrEqual(95_000);
  });
});

it.each(['refused', undefined] as const)(
  'what an engine’s loss has emptied stays so when its calls end (%s)',
  (failure) => {
    const desk = settled();
    desk.arrive('r0-large', { program: 'r0', prompt: 95_000 });
    desk.tell({ type: 'engineLost', engine: 'A' as never });
    if (failure !== undefined) desk.fail('r0-large', failure);
    else desk.finish('r0-large', { prompt: 95_000, output: 0, cached: 0 });
    expect(desk.engine('A').workingSetTokens).toBe(0);
  },
);
