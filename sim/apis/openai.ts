import type { Delta } from '../text/answer.js';
import { optional, sse, type Choice, type Formatter, type Reply, type Usage } from './api.js';
import type { JsonObject } from './fields.js';

/**
 * Identifies the server, alike on all answers. A stream carries it on its last chunk before usage, or else on its
 * usage.
 */
const FINGERPRINT = { system_fingerprint: 'vllm-0.32.0-sim' };

/** Usage on each chunk of a stream with `continuous_usage_stats`. */
export function usageSoFar({ terms }: Reply, { promptTokens, narrator }: Choice, told = narrator.told): JsonObject {
  if (!terms.continuousUsage) return {};
  return { usage: { prompt_tokens: promptTokens, total_tokens: promptTokens + told, completion_tokens: told } };
}

export abstract class OpenaiFormatter implements Formatter {
  readonly #base: JsonObject;
  readonly #whole: string;

  constructor(
    protected readonly reply: Reply,
    kinds: { readonly prefix: string; readonly stream: string; readonly whole: string },
  ) {
    this.#whole = kinds.whole;
    this.#base = {
      id: `${kinds.prefix}-${reply.id}`,
      object: kinds.stream,
      created: reply.createdAt,
      model: reply.model,
    };
  }

  abstract delta(choice: Choice, deltas: readonly Delta[]): string[];
  protected abstract choiceOf(choice: Choice): JsonObject;

  /** The last token's chunk carried the finish reason. */
  closing(): string[] {
    const usage = this.reply.usage();
    const events = ['data: [DONE]\n\n'];
    if (this.reply.terms.includeUsage && usage !== undefined) {
      const metrics = optional('metrics', this.reply.metrics());
      events.unshift(sse({ ...this.#base, choices: [], usage: openaiUsage(usage), ...FINGERPRINT, ...metrics }));
    }
    return events;
  }

  whole(): JsonObject {
    const usage = this.reply.usage();
    return {
      ...this.#base,
      object: this.#whole,
      choices: this.reply.choices.map((choice) => this.choiceOf(choice)),
      service_tier: null,
      ...FINGERPRINT,
      ...optional('usage', usage && openaiUsage(usage)),
      metrics: this.reply.metrics() ?? null,
    };
  }

  /** A chunk with one entry. @param more fields beside its choices */
  protected chunk(choice: Choice, entry: JsonObject, isLast: boolean, more: JsonObject = {}): string {
    const fingerprint = isLast && !this.reply.terms.includeUsage ? FINGERPRINT : {};
    return sse({ ...this.#base, choices: [entry], ...fingerprint, ...usageSoFar(this.reply, choice), ...more });
  }
}

function openaiUsage({ prompt, cached, output }: Usage): JsonObject {
  return {
    prompt_tokens: prompt,
    total_tokens: prompt + output,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
