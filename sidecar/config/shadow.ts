import { z } from 'zod';
import { DAY_MS, STARTING, fixed, ms } from './note.js';

export const shadow = z.strictObject({
  enabled: fixed(
    z.boolean().default(true),
    'Estimate program times under `pass-through` (INSPECT.md).',
    'an estimate takes at most 1 % of a core',
  ),
  everyMs: fixed(ms(1000, DAY_MS).default(60_000), 'Least time between two estimates.', STARTING),
});
