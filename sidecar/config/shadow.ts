import { z } from 'zod';
import { DAY_MS, STARTING, count, ms, note } from './note.js';

export const shadow = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .meta(
      note('Estimate the time that programs would have taken under `pass-through` (SHADOW.md).', 'off by default', {
        restart: true,
      }),
    ),
  windowMs: ms(60_000, DAY_MS)
    .default(900_000)
    .meta(note('Latest time that an estimate covers.', STARTING, { restart: true })),
  everyMs: ms(1000, DAY_MS)
    .default(60_000)
    .meta(
      note('Least time between two estimates. It grows, so that they take at most 1 % of a core.', STARTING, {
        restart: true,
      }),
    ),
  callsMax: count(100, 1e6)
    .default(20_000)
    .meta(note('Most calls that an estimate covers.', STARTING, { restart: true })),
});
