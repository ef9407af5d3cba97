import { describe, expect, it } from 'vitest';
import { runSeed } from './run.js';

/** `TEST_SEEDS` or `npm run test:campaign` plays more. */
const SEEDS = Number(process.env['TEST_SEEDS'] ?? 400);
const CHUNK = 25;
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

describe('the whole gateway under seeded faults', () => {
  const met = new Set<RegExp>();

  for (let from = 1; from <= SEEDS; from += CHUNK) {
    it(`keeps every invariant for seeds ${from} to ${from + CHUNK - 1}`, async () => {
      for (let seed = from; seed < from + CHUNK; seed++) {
        const { wrongs, lines } = await runSeed(seed);
        expect(wrongs, `replay: npm run test:campaign -- --seed ${seed}`).toEqual([]);
        const text = lines.join('\n');
        for (const pattern of MET) if (!met.has(pattern) && pattern.test(text)) met.add(pattern);
      }
    });
  }

  it('met everything that it is about', () => {
    expect(MET.filter((pattern) => !met.has(pattern))).toEqual([]);
  });

  it('sees the same for the same seed, whatever ran before', async () => {
    const first = await runSeed(7);
    await runSeed(8);
    expect((await runSeed(7)).hash).toBe(first.hash);
  });
});
