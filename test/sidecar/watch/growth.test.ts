import { describe, expect, it } from 'vitest';
import { growthOf, joinedPast } from '../../../sidecar/watch/growth.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { Totals } from '../../../sidecar/watch/totals.js';
import { stateOfAll } from '../../../sidecar/admin/peers.js';
import { millis } from '../../../src/index.js';

describe('a queue', () => {
  it.each([
    ['for four minutes', [3, 3, 8, 15, 20, 25, 30, 35, 40, 42], 44, { minutes: 4, from: 3 }],
    ['for two minutes, and fast', [0, 0, 0, 0, 12, 24, 36, 48], 50, { minutes: 2, from: 0 }],
    ['for as long as it is known', [10, 15, 20, 25, 30, 35, 40, 45, 50, 55], 60, { minutes: 5, from: 10 }],
    ['since it fell', [90, 70, 40, 10, 20, 30, 40, 50, 60, 70, 80], 85, { minutes: 4, from: 10 }],
    ['though it fell for a moment', [0, 0, 20, 40, 36, 60, 80, 90, 120, 130], 140, { minutes: 4, from: 0 }],
    ['after a time of which nothing is known', [null, null, 5, 12, 20, 28, 35, 42, 50, 58], 65, { minutes: 4, from: 5 }], // prettier-ignore
    ['again after a plateau', [0, 20, 40, 60, 75, 76, 74, 75, 74, 82, 90], 98, { minutes: 5, from: 0 }],
    ['though it has stayed for half a minute', [0, 0, 15, 30, 45, 60, 60], 60, { minutes: 3, from: 0 }],
    ['and fell by no more than it varies', [0, 10, 20, 30, 40, 50, 60, 70], 65, { minutes: 4, from: 0 }],
  ])('has grown %s', (_, past, now, growth) => {
    expect(growthOf(past, now)).toEqual(growth);
  });

  it('has grown for ever longer, from the same low point', () => {
    const past = [75, 76, 74, 75, 74, ...Array.from({ length: 60 }, (_, at) => 80 + 12 * at + (at % 3))];
    const told = past.map((_, at) => growthOf(past.slice(0, at), past[at] ?? 0)).filter((each) => each !== undefined);
    expect(told.length).toBeGreaterThan(55);
    expect(told.map(({ minutes }) => minutes)).toEqual(told.map((_, at) => Math.floor((at + 4) / 2)));
    expect(new Set(told.map(({ from }) => from))).toEqual(new Set([74]));
  });

  it.each([
    ['has grown, and stays for a minute', [0, 20, 40, 60, 75, 76, 74], 75],
    ['fell halfway, and falls again', [0, 0, 12, 30, 33, 20, 24, 38, 41], 37],
    ['has grown, and falls', [0, 10, 20, 30, 40, 50, 60, 70], 50],
    ['varies about its level', [20, 28, 17, 24, 31, 19, 26, 22, 29], 33],
    ['has risen in a burst, and stays', [0, 0, 25, 50, 50, 50], 52],
    ['has risen in a burst a moment ago', [0, 0, 0, 0, 0, 0, 25, 50], 50],
    ['falls', [50, 45, 40, 35, 30, 25, 20], 10],
    ['has grown, and shrinks now', [3, 8, 15, 20, 25, 30, 35, 40, 44, 20], 20],
    ['has grown, and is gone', [3, 8, 15, 20, 25, 30, 35, 40, 44, 48], 3],
    ['is short', [1, 2, 3, 4, 5, 6, 7, 8, 9], 10],
    ['goes up and down', [50, 54, 47, 52, 49, 55, 58, 60, 61], 61],
    ['has hardly grown against its level', [100, 103, 106, 109, 112, 115, 118, 121, 124], 127],
    ['is known for a minute and a half', [10, 30, 50], 70],
    ['was not known a minute ago', [10, 20, null, 50, 70], 90],
    ['is not known', [null], 90],
  ])('has not grown that %s', (_, past, now) => {
    expect(growthOf(past, now)).toBeUndefined();
  });

  it('is that of all gateways, for as long as this one knows its own', async () => {
    expect(joinedPast([null, 1, 2], [[4, null, 4], [], [1, 1, 1]])).toEqual([null, 2, 7]);
    const queue = { waiting: 3, background: 1, byCause: {}, longestWaitMs: 0 };
    const told = JSON.stringify({ queue: { waiting: 4, background: 0, limit: 1, longest_wait_seconds: 0, waiting_for: {} }, past: [null, 5], batches: [], ended: [] }); // prettier-ignore
    const context = {
      config: { limits: { queuedMax: 9 } },
      driver: { now: () => 0, queue: () => queue },
      totals: { waited: () => [1, 2] },
      peers: { ask: () => Promise.resolve(new Map([['b', told]])) },
    };
    expect(await stateOfAll(context as never)).toMatchObject({ queue: { waiting: 7, background: 1 }, past: [1, 7] });
  });

  it('has not grown where it was empty in between, however full it is now', () => {
    let nowMs = 0;
    let online = 0;
    const now = () => millis(nowMs);
    const completions = new Completions({ idle: () => [], known: { of: () => undefined, leaving: () => undefined }, now }); // prettier-ignore
    const totals = new Totals({ completions, now, reading: () => ({ online }) });
    const levels = [0, 0, 0, 0, 55, 0, 97, 97, 97].map((calls) => Array<number>(3).fill(calls));
    for (const calls of levels.flat().with(12, 0).with(16, 60)) {
      online = calls;
      totals.look();
      nowMs += 10_000;
      expect(growthOf(totals.waited(now()), online)).toBeUndefined();
    }
    expect(totals.waited(now()).slice(-10)).toEqual([null, 0, 0, 0, 0, 110 / 3, 20, 97, 97, 97]);
  });
});
