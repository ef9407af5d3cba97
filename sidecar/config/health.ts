import { z } from 'zod';
import { DAY_MS, STARTING, count, fixed, ms } from './note.js';

export const health = z
  .strictObject({
    intervalMs: fixed(
      ms(10, DAY_MS).default(2000),
      'Interval of load reports and health probes of an engine.',
      STARTING,
    ),
    timeoutMs: fixed(ms(10, DAY_MS).default(2000), 'Time for one probe.', 'as `intervalMs`'),
    failuresMax: fixed(count(1, 1000).default(3), 'Failures in a row from which an engine is down.', STARTING),
    stuckMs: fixed(
      ms(10, DAY_MS).default(30_000),
      'Time without a token, with requests waiting and none running, from which an engine is down.',
      STARTING,
    ),
    backoffMs: fixed(
      ms(10, DAY_MS).optional(),
      'First wait before an engine that is down is probed; it doubles each time.',
      STARTING,
      { default: '1000, at most `backoffMsMax`' },
    ),
    backoffMsMax: fixed(ms(10, DAY_MS).optional(), 'Longest wait between such probes.', STARTING, {
      default: '30000, at least `backoffMs`',
    }),
  })
  .transform((given) => {
    const backoffMs = given.backoffMs ?? Math.min(1000, given.backoffMsMax ?? Infinity);
    return { ...given, backoffMs, backoffMsMax: given.backoffMsMax ?? Math.max(30_000, backoffMs) };
  });
