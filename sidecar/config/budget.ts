import { z } from 'zod';
import { NONE, count, name, note } from './note.js';

const most = (max: number) => count(1, max).nullable();

/** Bounds of one program; null: without. */
const bounds = {
  tokens: note(most(1e12).default(null), 'Most prompt and output tokens of one program; null: no bound.', NONE),
  calls: note(most(1e9).default(null), 'Most calls of one program; null: no bound.', NONE),
  engineSeconds: note(most(1e9).default(null), 'Most seconds of engine time of one program; null: no bound.', NONE),
  repeats: note(
    most(1e6).default(null),
    'Most answers in a row that ask for the same tool calls; null: no bound.',
    NONE,
  ),
};

export const budget = z.strictObject({
  ...bounds,
  tenants: note(
    z
      .record(
        name,
        z
          .strictObject({ tokens: most(1e12), calls: most(1e9), engineSeconds: most(1e9), repeats: most(1e6) })
          .partial(),
      )
      .default({}),
    'Other bounds for a tenant, as `{research: {tokens: 2000000, calls: null}}`. `x-maitred-budget` can only lower them.',
    NONE,
  ),
});
