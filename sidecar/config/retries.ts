import { defaults } from '../../src/index.js';
import { DAY_MS, count, ms, note } from './note.js';

/** Assumptions about clients that time out and retry. */

export const ghostMs = ms(0, DAY_MS)
  .default(defaults.timeouts.ghostMs)
  .meta(
    note(
      'Time for which a queued call’s place is kept for a retry, after a hang-up or `queueMs`; 0: not kept.',
      'the longest `Retry-After` that official clients obey',
    ),
  );

export const clientRetries = count(0, 1e6)
  .default(defaults.limits.clientRetries)
  .meta(
    note(
      'Retries assumed of a client. A call is refused on arrival only if it would outwait them all.',
      'the default of the OpenAI and Anthropic clients',
    ),
  );
