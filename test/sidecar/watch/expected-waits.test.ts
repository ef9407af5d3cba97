import { expect, it } from 'vitest';
import { ExpectedWaits } from '../../../sidecar/watch/expected-waits.js';
import { callId, engineId, type WaitView } from '../../../src/index.js';

const at = (engine: string | undefined, ahead: number, waitingMs = 5_000, background = false): WaitView =>
  ({ engine: engine === undefined ? undefined : engineId(engine), ahead, waitingMs, background }) as WaitView;
const ASKED = callId('asked');
const told = (expected: ExpectedWaits, view: WaitView, nowMs = 0) => expected.of(ASKED, view, nowMs);

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
    Array.from({ length: 15 }, (_, index) => 100 + index),
  );
  expect(told(expected, at('A', 1))).toBeUndefined();
  learn(expected, [115]);
  expect(told(expected, at('A', 1))).toEqual({ p50Ms: 216, p90Ms: 228 });
  expect(told(expected, at('A', 9))).toEqual({ p50Ms: 1_080, p90Ms: 1_140 });
  // The first in line waits for room, and not for others.
  for (const unknown of [at('A', 0), at('B', 1), at(undefined, 1), at('A', 1, 5_000, true)])
    expect(told(expected, unknown)).toBeUndefined();
  // Only the last ones count.
  learn(expected, Array<number>(256).fill(7));
  expect(told(expected, at('A', 1))).toEqual({ p50Ms: 14, p90Ms: 14 });
});

it('judges a call by others that had waited as long, or else the longest of which enough have ended', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(16).fill(10), at('A', 0, 4_999));
  learn(expected, Array<number>(16).fill(9_000), at('A', 1, 10_000));
  const p50s = [0, 9_999, 10_000, 60_000].map((ms) => told(expected, at('A', 1, ms))?.p50Ms);
  expect(p50s).toEqual([20, 20, 18_000, 18_000]);
});

it('tells a call nothing once it has outlasted nine of ten of the others', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(16).fill(1_000), at('A', 1));
  const view = at('A', 1);
  expected.observe([[ASKED, view]], 0);
  expect(told(expected, view, 2_000)?.p90Ms).toBe(2_000);
  expect(told(expected, view, 2_001)).toBeUndefined();
});

it('tells no time after which the call has long come first', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(16).fill(1_000), at('A', 1));
  const toldOf = (aheadWaitedMs: number, frontAtMs?: number) =>
    told(expected, { ...at('A', 1), oldestAhead: { waitingMs: aheadWaitedMs }, frontAtMs } as WaitView)?.p50Ms;
  expect([toldOf(4_000, 1_999), toldOf(4_000, 2_000), toldOf(4_000)]).toEqual([undefined, 2_000, 2_000]);
  // One that has waited longer stays ahead.
  expect(toldOf(6_000, 1_999)).toBe(2_000);
});

it('counts waits that go on in the p90, once they are longer', () => {
  const expected = new ExpectedWaits();
  learn(expected, Array<number>(16).fill(1_000), at('A', 1));
  const others = Array.from({ length: 4 }, (_, index) => [callId(`o${index}`), at('A', 1)] as const);
  expected.observe(others, 0);
  const toldAt = (nowMs: number) => {
    expected.observe([], nowMs);
    return told(expected, at('A', 1), nowMs);
  };
  expect(toldAt(2_000)).toEqual({ p50Ms: 2_000, p90Ms: 2_000 });
  expect(toldAt(8_000)).toEqual({ p50Ms: 2_000, p90Ms: 8_000 });
  for (const [call] of others.slice(1)) expected.left(call);
  expect(toldAt(8_000)).toEqual({ p50Ms: 2_000, p90Ms: 2_000 });
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
  expect(told(expected, at('A', 1))).toBeUndefined();
});

it.each([
  [14, false],
  [15, true],
])('counts a long wait once until it has doubled: beside %d others', (others, isKnown) => {
  const expected = new ExpectedWaits();
  const long = callId('long');
  learn(expected, Array<number>(others).fill(1));
  for (let ms = 5_000; ms < 300_000; ms += 1_000) expected.observe([[long, at('A', 1, ms)]], ms);
  expected.dispatched(long, 300_000);
  expect(told(expected, at('A', 1)) !== undefined).toBe(isKnown);
});
