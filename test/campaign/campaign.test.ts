import { describe, expect, it } from 'vitest';
import { runSeed } from './run.js';

/** `TEST_SEEDS`, for several gateways `TEST_FLEETS`, or `npm run test:campaign` plays more. */
const seedsOf = (name: string, fewest: number): number => Number(process.env[name] ?? fewest);
/** What must have been seen in them, as the log and the trace put it: a campaign that met nothing proves nothing. */
const MET = [
  /call \d+ completed/,
  /call \d+ client_error/,
  /call \d+ engine_error/,
  /call \d+ cancelled/,
  /call \d+ timed_out/,
  /call \d+ drained/,
  /refused  queue_full/,
  /refused  unauthorized/,
  /refused  request_timeout/,
  /refused  unknown_response/,
  /refused  draining/,
  /callFailed \(busy\)/,
  /callFailed \(broken\)/,
  /callFailed \(lost\)/,
  /passed through/,
  /is gone: silent/,
  /reload:/,
  /stands still/,
];
const MET_BY_SEVERAL = [
  /g0: log: .* completed/,
  /g2: log: .* completed/,
  /the store is gone/,
  /the store stands still/,
  /has lost its data/,
];

describe.each([
  { gateways: 1, seeds: seedsOf('TEST_SEEDS', 150), chunk: 25, wanted: MET },
  { gateways: 3, seeds: seedsOf('TEST_FLEETS', 5), chunk: 1, wanted: MET_BY_SEVERAL },
])('the whole gateway under seeded faults, $gateways at once', ({ gateways, seeds, chunk, wanted }) => {
  const met = new Set<RegExp>();

  for (let from = 1; from <= seeds; from += chunk) {
    it(`keeps every invariant for seeds ${from} to ${from + chunk - 1}`, async () => {
      for (let seed = from; seed < from + chunk; seed++) {
        const { wrongs, lines } = await runSeed(seed, gateways);
        expect(wrongs, `replay: npm run test:campaign -- --gateways ${gateways} --seed ${seed}`).toEqual([]);
        const text = lines.join('\n');
        for (const pattern of wanted) if (!met.has(pattern) && pattern.test(text)) met.add(pattern);
      }
    });
  }

  it('met everything that it is about', () => {
    expect(wanted.filter((pattern) => !met.has(pattern))).toEqual([]);
  });

  it('sees the same for the same seed, whatever ran before', async () => {
    const first = await runSeed(7, gateways);
    await runSeed(8, gateways);
    expect((await runSeed(7, gateways)).hash).toBe(first.hash);
  });
});

it.each([
  [49_242, 1, 'lets a stream take its time behind an earlier answer of its connection'],
  [2_439, 3, 'leaves no question to other gateways open when a gateway leaves'],
])('seed %d, gateways %d: %s', async (seed, gateways) => {
  expect((await runSeed(seed, gateways)).wrongs).toEqual([]);
});
