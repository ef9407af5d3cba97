import type { Delta } from '../text/answer.js';
import { decode, encode } from '../text/tokens.js';
import {
  finishOf,
  optional,
  readTerms,
  sse,
  type Api,
  type Ask,
  type Choice,
  type Formatter,
  type Prompt,
  type Reply,
} from './api.js';
import { invalidBody, openaiError } from './errors.js';
import { integer, isObject, type JsonObject } from './fields.js';
import { closingChunks, FINGERPRINT, openaiUsage, usageSoFar } from './openai.js';

/** OpenAI's default on this API. */
const MAX_TOKENS_DEFAULT = 16;

/** POST /v1/completions: a text, a list of texts, token ids, or a list of those. */
export const completions: Api = {
  read: readCompletion,
  format: (reply) => new CompletionFormatter(reply),
  error: openaiError,
};

function readCompletion(body: JsonObject): Ask {
  const format = isObject(body['response_format']) && body['response_format']['type'] === 'json_object';
  const prompts = readTexts(body['prompt'], 'prompt').map((ids): Prompt => ({
    ids,
    messages: [],
    tools: [],
    toolChoice: 'none',
    ...(format ? { schema: {} } : {}),
  }));
  return { terms: readTerms(body, integer(body, 'max_tokens', 1) ?? MAX_TOKENS_DEFAULT), prompts };
}

/** Token ids of each text of a `prompt` or `input` field. */
export function readTexts(value: unknown, name: string): number[][] {
  const isText = (entry: unknown): entry is string | number[] =>
    typeof entry === 'string' || (Array.isArray(entry) && entry.every(isTokenId));
  const texts = isText(value) && !(Array.isArray(value) && value.length === 0) ? [value] : value;
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every(isText)) {
    throw invalidBody(`${name}: a text, token ids, or a list of these is expected`, name);
  }
  return texts.map((text: string | number[]) => {
    if (typeof text !== 'string') return text;
    const ids: number[] = [];
    encode(text, ids);
    return ids;
  });
}

export function isTokenId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

class CompletionFormatter implements Formatter {
  readonly #base: JsonObject;

  constructor(private readonly reply: Reply) {
    this.#base = { id: `cmpl-${reply.id}`, object: 'text_completion', created: reply.createdAt, model: reply.model };
  }

  opening(): string[] {
    return [];
  }

  delta(choice: Choice, deltas: readonly Delta[], tokenIds: readonly number[]): string[] {
    const { returnTokenIds, body } = this.reply.terms;
    const text = deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
    const echoed = !choice.opened && body['echo'] === true ? decode(choice.promptIds) : '';
    const promptIds = choice.opened ? null : choice.promptIds;
    const ids = returnTokenIds ? { token_ids: tokenIds, prompt_token_ids: promptIds } : {};
    const finish = finishOf(choice);
    if (text === '' && echoed === '' && finish === null && !returnTokenIds) return [];
    return [this.#chunk(choice, echoed + text, finish, ids)];
  }

  /** The last token's chunk carries the finish reason. */
  finish(): string[] {
    return [];
  }

  closing(): string[] {
    return closingChunks(this.reply, this.#base);
  }

  whole(): JsonObject {
    const { returnTokenIds, body } = this.reply.terms;
    const usage = this.reply.usage();
    const choices = this.reply.choices.map((choice) => ({
      index: choice.index,
      text: (body['echo'] === true ? decode(choice.promptIds) : '') + choice.narrator.text,
      logprobs: null,
      finish_reason: choice.answer.finish,
      stop_reason: null,
      ...(returnTokenIds ? { prompt_token_ids: choice.promptIds, token_ids: choice.answer.ids } : {}),
    }));
    return {
      ...this.#base,
      choices,
      service_tier: null,
      ...FINGERPRINT,
      ...optional('usage', usage && openaiUsage(usage)),
      metrics: this.reply.metrics() ?? null,
    };
  }

  #chunk(choice: Choice, text: string, finish: string | null, ids: JsonObject): string {
    const entry = { index: choice.index, text, logprobs: null, finish_reason: finish, stop_reason: null, ...ids };
    const fingerprint = finish === null || this.reply.terms.includeUsage ? {} : FINGERPRINT;
    return sse({ ...this.#base, choices: [entry], ...fingerprint, ...usageSoFar(this.reply, choice) });
  }
}
