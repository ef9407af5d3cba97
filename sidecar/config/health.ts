import { z } from 'zod';
import { DAY_MS, STARTING, count, fixed, ms } from './note.js';

export const health = z
  .strictObject({
    intervalMs: ms(10, DAY_MS)
      .default(2000)
      .meta(fixed('Interval of load reports and health probes of an engine.', STARTING)),
    timeoutMs: ms(10, DAY_MS).default(2000).meta(fixed('Time for one probe.', 'as `intervalMs`')),
    failuresMax: count(1, 1000).default(3).meta(fixed('Failures in a row that eject an engine.', STARTING)),
    stuckMs: ms(10, DAY_MS)
      .default(30_000)
      .meta(fixed('Time without a token, with requests waiting and none running, that ejects an engine.', STARTING)),
    backoffMs: ms(10, DAY_MS)
      .optional()
      .meta(
        fixed('First wait before an ejected engine is probed; it doubles each time.', STARTING, {
          default: '1000, at most `backoffMsMax`',
        }),
      ),
    backoffMsMax: ms(10, DAY_MS)
      .optional()
      .meta(fixed('Longest wait between such probes.', STARTING, { default: '30000, at least `backoffMs`' })),
  })
  .transform((given) => {
    const backoffMs = given.backoffMs ?? Math.min(1000, given.backoffMsMax ?? Infinity);
    return { ...given, backoffMs, backoffMsMax: given.backoffMsMax ?? Math.max(30_000, backoffMs) };
  });
