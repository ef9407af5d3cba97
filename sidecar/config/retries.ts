import { DAY_MS, count, ms, note } from './note.js';

/** Assumptions about clients that time out and retry. */

export const ghostMs = ms(0, DAY_MS)
  .default(120_000)
  .meta(
    note(
      'The place of a queued call is kept for a retry after its client hung up or it waited `queueMs`; 0: not at all.',
      'the longest `Retry-After` that official clients wait for',
    ),
  );

export const clientRetries = count(0, 1e6)
  .default(2)
  .meta(
    note(
      'Retries a client is taken to make. A call is refused on arrival only if it would outwait them all.',
      'the OpenAI and Anthropic clients’ own',
    ),
  );
