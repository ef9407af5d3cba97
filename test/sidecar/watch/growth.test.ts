import { describe, expect, it } from 'vitest';
import { growthOf, joinedPast } from '../../../sidecar/watch/growth.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { Totals } from '../../../sidecar/watch/totals.js';
import { stateOfAll } from '../../../sidecar/admin/peers.js';
import { millis } from '../../../src/index.js';

describe('a queue', () => {
  it.each([
    ['for four minutes', [3, 15, 31, 44], 48, { minutes: 4, from: 3 }],
    ['for as long as it is known', [10, 20, 30, 40, 50, 60, 70, 80], 85, { minutes: 8, from: 15 }],
    ['for eight of the last twelve minutes', [90, 0, 90, 0, 10, 20, 30, 40, 50, 60, 70, 80], 85, { minutes: 8, from: 15 }], // prettier-ignore
    ['though it fell for a minute', [0, 20, 40, 36, 80, 90, 120, 130], 130, { minutes: 8, from: 10 }],
    ['after a time of which nothing is known', [null, null, 5, 20, 35, 50], 50, { minutes: 4, from: 5 }],
  ])('has grown %s', (_, past, now, growth) => {
    expect(growthOf(past, now)).toEqual(growth);
  });

  it.each([
    ['has risen in a burst, and stays', [0, 0, 25, 50, 51, 50], 50],
    ['has risen in a burst a moment ago', [0, 0, 0, 0, 0, 0, 25, 50], 50],
    ['rose in a burst that took two minutes', [0, 0, 30, 60, 60, 59, 60, 60], 60],
    ['falls', [50, 40, 30, 20], 10],
    ['has grown, and shrinks now', [3, 15, 31, 44], 20],
    ['is short', [1, 3, 6, 9], 10],
    ['goes up and down', [50, 54, 47, 52, 49, 55, 58, 60], 61],
    ['is known for three minutes', [10, 30, 50], 70],
    ['is not known for a minute', [10, null, 50, 70], 70],
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

  it('is read in means of whole minutes', () => {
    let nowMs = 0;
    let online = 0;
    const now = () => millis(nowMs);
    const completions = new Completions({ idle: () => [], known: { of: () => undefined, leaving: () => undefined }, now }); // prettier-ignore
    const totals = new Totals({ completions, now, reading: () => ({ online }) });
    for (; nowMs < 150_000; nowMs += 30_000) {
      online = nowMs / 10_000;
      totals.look();
    }
    expect(totals.waited(now()).slice(-3)).toEqual([null, 1.5, 7.5]);
  });
});
