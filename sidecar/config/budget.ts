import { z } from 'zod';
import { NONE, count, name, note } from './note.js';

const most = (max: number) => count(1, max).nullable();
/** Bounds of one program; null: without. */
const BOUNDS = { tokens: most(1e12), calls: most(1e9), engineSeconds: most(1e9), repeats: most(1e6) };

export const budget = z.strictObject({
  tokens: note(BOUNDS.tokens.default(null), 'Most prompt and output tokens of one program; null: no bound.', NONE),
  calls: note(BOUNDS.calls.default(null), 'Most calls of one program; null: no bound.', NONE),
  engineSeconds: note(
    BOUNDS.engineSeconds.default(null),
    'Most seconds of engine time of one program; null: no bound.',
    NONE,
  ),
  repeats: note(
    BOUNDS.repeats.default(null),
    'Most answers in a row that ask for the same tool calls; null: no bound.',
    NONE,
  ),
  tenants: note(
    z.record(name, z.strictObject(BOUNDS).partial()).default({}),
    'Other bounds for a tenant, as `{research: {tokens: 2000000, calls: null}}`. `x-maitred-budget` can only lower them.',
    NONE,
  ),
});
