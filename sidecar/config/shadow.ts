import { z } from 'zod';
import { DAY_MS, STARTING, count, fixed, ms } from './note.js';

export const shadow = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .meta(
      fixed(
        'Estimate the time that programs would have taken under `pass-through` (INSPECT.md).',
        'an estimate takes at most 1 % of a core',
      ),
    ),
  windowMs: ms(60_000, DAY_MS).default(900_000).meta(fixed('Latest time that an estimate covers.', STARTING)),
  everyMs: ms(1000, DAY_MS)
    .default(60_000)
    .meta(fixed('Least time between two estimates. It grows, so that they take at most 1 % of a core.', STARTING)),
  callsMax: count(100, 1e6).default(20_000).meta(fixed('Most calls that an estimate covers.', STARTING)),
});
