import { expect, it, vi } from 'vitest';
import type { Parts } from '../../../sidecar/context.js';
import { ExpectedWaits } from '../../../sidecar/watch/expected-waits.js';
import { readState } from '../../../sidecar/watch/reading.js';
import { callId, engineId, type WaitView } from '../../../src/index.js';

const at = (engine: string | undefined, ahead: number, background = false): WaitView =>
  ({ engine: engine === undefined ? undefined : engineId(engine), ahead, background }) as WaitView;

/** Has calls of these milliseconds a place seen after 5 s of waiting at an engine, and then dispatched. */
function learn(expected: ExpectedWaits, waits: readonly number[], view = at('A', 1)): void {
  waits.forEach((ms, index) => {
    const call = callId(`c${index}`);
    for (const nowMs of [0, 5_000]) expected.observe([[call, view]], nowMs);
    expected.dispatched(call, 5_000 + (view.ahead + 1) * ms);
  });
}

it('tells the spread of the last waits at an engine for a place in line', () => {
  const expected = new ExpectedWaits();
  learn(
    expected,
    Array.from({ length: 31 }, (_, index) => 100 + index),
  );
  expect(expected.of(at('A', 1))).toBeUndefined();
  learn(expected, [131]);
  expect(expected.of(at('A', 0))).toEqual({ p50Ms: 116, p90Ms: 128 });
  expect(expected.of(at('A', 9))).toEqual({ p50Ms: 1_160, p90Ms: 1_280 });
  for (const unknown of [at('B', 1), at(undefined, 1), at('A', 1, true)]) expect(expected.of(unknown)).toBeUndefined();
  // Only the last ones count.
  learn(expected, Array<number>(256).fill(7));
  expect(expected.of(at('A', 0))).toEqual({ p50Ms: 7, p90Ms: 7 });
});

it('learns nothing from short waits, background calls, calls without an engine and those that left', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(64).fill(1), at('A', 1, true));
  learn(expected, Array<number>(64).fill(1), at(undefined, 1));
  for (let index = 0; index < 64; index += 1) {
    const call = callId(`d${index}`);
    for (const nowMs of [0, 4_999]) expected.observe([[call, at('A', 0)]], nowMs);
    expected.dispatched(call, 9_000);
    for (const nowMs of [0, 5_000]) expected.observe([[call, at('A', 0)]], nowMs);
    expected.left(call);
    expected.dispatched(call, 9_000);
  }
  expect(expected.of(at('A', 1))).toBeUndefined();
});

it('counts a long wait again each time that it has doubled, and no more often', () => {
  for (const [others, isKnown] of [
    [24, false],
    [25, true],
  ] as const) {
    const expected = new ExpectedWaits();
    learn(expected, Array<number>(others).fill(1));
    // At 5, 10, 20, 40, 80, 160 and 320 s: seven times.
    for (let nowMs = 0; nowMs < 600_000; nowMs += 1_000) expected.observe([[callId('long'), at('A', 0)]], nowMs);
    expected.dispatched(callId('long'), 600_000);
    expect(expected.of(at('A', 0)) !== undefined, `${others}`).toBe(isKnown);
  }
});

it('is learnt at each reading of the state, though nobody asks', () => {
  const waits = vi.fn();
  const driver = { views: {}, waits, queue: () => ({ byCause: { kv: 2 } }) };
  const parts = { config: {}, driver, fleet: { list: () => [] } } as unknown as Parts;
  expect(readState(parts)).toMatchObject({ kv: 2, in_flight: 0 });
  expect(waits).toHaveBeenCalledOnce();
});
