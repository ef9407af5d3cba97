import { z } from 'zod';
import { date, count, milliseconds } from './numbers.js';
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

const BLOCK_TOKENS = 512;

const request = z.object({
  /** Milliseconds since the trace began. */
  timestamp: milliseconds,
  input_length: count,
  output_length: count,
  hash_ids: z.array(z.int().min(0)),
});

/**
 * Requests to Mooncake's servers: one a line, without a session. Each is a program of one call, named by its line. The
 * ids of its 512-token blocks are common to the whole trace.
 */
export const mooncake = oneEach(request, ({ timestamp, input_length, output_length, hash_ids }, record) => {
  if (hash_ids.length > Math.ceil(input_length / BLOCK_TOKENS)) {
    return record.fault('hash_ids', `more blocks of ${BLOCK_TOKENS} tokens than the prompt has`);
  }
  const prefix = hash_ids.length > 0 && { prefix: { blocks: hash_ids, blockTokens: BLOCK_TOKENS } };
  return {
    id: `request-${record.place.number}`,
    arrivalMs: timestamp,
    calls: inChain([{ gapMs: 0, promptTokens: input_length, outputTokens: output_length, ...prefix }]),
  } satisfies AgentProgram;
});
