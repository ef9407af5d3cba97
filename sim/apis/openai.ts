import { optional, sse, type Choice, type Reply, type Usage } from './api.js';
import type { JsonObject } from './fields.js';

/** Fields shared by the answers of chat and completions. */

/**
 * Identifies the server, alike on all answers. A stream carries it on its last chunk before usage, or else on its
 * usage.
 */
export const FINGERPRINT = { system_fingerprint: 'vllm-0.32.0-sim' };

/** Usage on each chunk of a stream with `continuous_usage_stats`. */
export function usageSoFar({ terms }: Reply, { promptTokens, narrator }: Choice, told = narrator.told): JsonObject {
  if (!terms.continuousUsage) return {};
  return { usage: { prompt_tokens: promptTokens, total_tokens: promptTokens + told, completion_tokens: told } };
}

/** The end of an OpenAI stream: usage if requested, then the end mark. @param base fields of every chunk */
export function closingChunks(reply: Reply, base: JsonObject): string[] {
  const usage = reply.usage();
  const events = ['data: [DONE]\n\n'];
  if (reply.terms.includeUsage && usage !== undefined) {
    const metrics = optional('metrics', reply.metrics());
    events.unshift(sse({ ...base, choices: [], usage: openaiUsage(usage), ...FINGERPRINT, ...metrics }));
  }
  return events;
}

/** Usage as chat and completions spell it. */
export function openaiUsage({ prompt, cached, output }: Usage): JsonObject {
  return {
    prompt_tokens: prompt,
    total_tokens: prompt + output,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
