import { objectOf } from '../apis/fields.js';
import { countOf } from '../apis/usage.js';

/** Sums over answers, in OpenAI's form. */
export const usageOf = ([input = 0, cached = 0, output = 0, reasoning = 0]: readonly number[] = []) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** An answer's tokens in the order of `usageOf`, whatever its API. Anthropic's prompts do not count what a cache has to do with. */
export function tokensOf(answer: unknown): readonly number[] {
  const usage = objectOf(objectOf(answer)['usage']);
  const sum = (...counts: readonly unknown[]) => counts.reduce<number>((all, count) => all + (countOf(count) ?? 0), 0);
  const prompt = objectOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = objectOf(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  const read = usage['cache_read_input_tokens'];
  return [
    sum(usage['prompt_tokens'] ?? usage['input_tokens'], read, usage['cache_creation_input_tokens']),
    sum(prompt['cached_tokens'], read),
    sum(usage['completion_tokens'] ?? usage['output_tokens']),
    sum(output['reasoning_tokens']),
  ];
}
