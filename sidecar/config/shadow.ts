import { z } from 'zod';
import { DAY_MS, STARTING, count, fixed, ms } from './note.js';

export const shadow = z.strictObject({
  enabled: fixed(
    z.boolean().default(true),
    'Estimate program times under `pass-through` (INSPECT.md).',
    'an estimate takes at most 1 % of a core',
  ),
  windowMs: fixed(ms(60_000, DAY_MS).default(900_000), 'Latest time that an estimate covers.', STARTING),
  everyMs: fixed(ms(1000, DAY_MS).default(60_000), 'Least time between two estimates.', STARTING),
  callsMax: fixed(count(100, 1e6).default(20_000), 'Most calls that an estimate covers.', STARTING),
});
