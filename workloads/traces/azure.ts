import { z } from 'zod';
import { date } from './numbers.js';
import { inChain, type AgentProgram } from '../program.js';
import { oneEach } from './records.js';

const tokens = z
  .string()
  .regex(/^\d{1,9}$/, 'not a whole number')
  .transform(Number);
const row = z.object({
  /** For example `2023-11-16 18:15:46.6805900`, without a zone: taken as UTC. */
  TIMESTAMP: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?$/, 'not a date and time')
    .transform((text) => `${text.replace(' ', 'T')}Z`)
    .pipe(date),
  ContextTokens: tokens,
  GeneratedTokens: tokens,
});

/**
 * Requests to Azure's LLM services: a table of arrivals and lengths, one request a row. Each is a program of one call,
 * named by its line. Shared tokens are unknown. Arrivals are in milliseconds since 1970.
 */
export const azure = oneEach(row, ({ TIMESTAMP, ContextTokens, GeneratedTokens }, { place }): AgentProgram => ({
  id: `request-${place.number}`,
  arrivalMs: TIMESTAMP,
  calls: inChain([{ gapMs: 0, promptTokens: ContextTokens, outputTokens: GeneratedTokens }]),
}));
