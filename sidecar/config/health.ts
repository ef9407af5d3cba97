import { z } from 'zod';
import { DAY_MS, STARTING, count, ms, note } from './note.js';

export const health = z
  .strictObject({
    intervalMs: ms(10, DAY_MS)
      .default(2000)
      .meta(note('Interval of load reports and health probes of an engine.', STARTING, { restart: true })),
    timeoutMs: ms(10, DAY_MS)
      .default(2000)
      .meta(note('Time for one probe.', 'as `intervalMs`', { restart: true })),
    failuresMax: count(1, 1000)
      .default(3)
      .meta(note('Failures in a row that eject an engine.', STARTING, { restart: true })),
    backoffMs: ms(10, DAY_MS)
      .optional()
      .meta(
        note('First wait before an ejected engine is probed; it doubles each time.', STARTING, {
          default: '1000, at most `backoffMsMax`',
          restart: true,
        }),
      ),
    backoffMsMax: ms(10, DAY_MS)
      .optional()
      .meta(
        note('Longest wait between such probes.', STARTING, { default: '30000, at least `backoffMs`', restart: true }),
      ),
  })
  .transform((given) => {
    const backoffMs = given.backoffMs ?? Math.min(1000, given.backoffMsMax ?? Infinity);
    return { ...given, backoffMs, backoffMsMax: given.backoffMsMax ?? Math.max(30_000, backoffMs) };
  });
