import { expect, it } from 'vitest';
import { ExpectedWaits } from '../../../sidecar/watch/expected-waits.js';
import { callId, engineId, type WaitView } from '../../../src/index.js';

const at = (engine: string | undefined, ahead: number, waitingMs = 5_000, background = false): WaitView =>
  ({ engine: engine === undefined ? undefined : engineId(engine), ahead, waitingMs, background }) as WaitView;

/** Has calls seen at a place, and dispatched after these milliseconds for each place. */
function learn(expected: ExpectedWaits, waits: readonly number[], view = at('A', 1)): void {
  waits.forEach((ms, index) => {
    const call = callId(`c${index}`);
    expected.observe([[call, view]], 0);
    expected.dispatched(call, (view.ahead + 1) * ms);
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
  expect(expected.of(at('A', 1))).toEqual({ p50Ms: 232, p90Ms: 256 });
  expect(expected.of(at('A', 9))).toEqual({ p50Ms: 1_160, p90Ms: 1_280 });
  // The first in line waits for room, and not for others.
  for (const unknown of [at('A', 0), at('B', 1), at(undefined, 1), at('A', 1, 5_000, true)])
    expect(expected.of(unknown)).toBeUndefined();
  // Only the last ones count.
  learn(expected, Array<number>(256).fill(7));
  expect(expected.of(at('A', 1))).toEqual({ p50Ms: 14, p90Ms: 14 });
});

it('tells those who have just come by others who had, and those who have waited by others who had', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(32).fill(10), at('A', 0, 4_999));
  expect(expected.of(at('A', 0))).toBeUndefined();
  learn(expected, Array<number>(32).fill(9_000), at('A', 0));
  expect([expected.of(at('A', 0, 0))?.p50Ms, expected.of(at('A', 0, 60_000))?.p50Ms]).toEqual([10, 9_000]);
});

it('learns nothing from background calls, calls without an engine and those that left', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(64).fill(1), at('A', 1, 5_000, true));
  learn(expected, Array<number>(64).fill(1), at(undefined, 1));
  for (let index = 0; index < 64; index += 1) {
    const call = callId(`d${index}`);
    expected.observe([[call, at('A', 0)]], 0);
    expected.left(call);
    expected.dispatched(call, 9_000);
  }
  expect(expected.of(at('A', 1))).toBeUndefined();
});

it.each([
  [25, false],
  [26, true],
])('counts a long wait each time that it has doubled, and no more often: beside %d others', (others, isKnown) => {
  const expected = new ExpectedWaits();
  const long = callId('long');
  learn(expected, Array<number>(others).fill(1));
  // At 0 s among the young, then at 5, 10, 20, 40, 80 and 160 s.
  for (let ms = 0; ms < 300_000; ms += 1_000) expected.observe([[long, at('A', 1, ms)]], ms);
  expected.dispatched(long, 300_000);
  expect(expected.of(at('A', 1)) !== undefined).toBe(isKnown);
});
