import { z } from 'zod';
import { count, milliseconds } from './numbers.js';
import { inChain, type AgentProgram } from '../program.js';
import { oneEach } from './records.js';

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
