import type { Delta } from '../text/answer.js';
import { encode } from '../text/tokens.js';
import { finishOf, readTerms, type Api, type Ask, type Choice, type Prompt, type Reply } from './api.js';
import { invalidBody, integer, isObject, type JsonObject } from './fields.js';
import { OpenaiFormatter } from './openai.js';

/** OpenAI's default on this API. */
const MAX_TOKENS_DEFAULT = 16;

/** POST /v1/completions: a text, a list of texts, token ids, or a list of those. */
export const completions: Api = {
  read: readCompletion,
  format: (reply) => new CompletionFormatter(reply),
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

const isTokenId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

class CompletionFormatter extends OpenaiFormatter {
  constructor(reply: Reply) {
    super(reply, { prefix: 'cmpl', stream: 'text_completion', whole: 'text_completion' });
  }

  delta(choice: Choice, deltas: readonly Delta[]): string[] {
    const text = deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
    const finish = finishOf(choice);
    if (text === '' && finish === null) return [];
    return [this.chunk(choice, entryOf(choice.index, text, finish), finish !== null)];
  }

  protected choiceOf({ index, answer, narrator }: Choice): JsonObject {
    return entryOf(index, narrator.text, answer.finish);
  }
}

const entryOf = (index: number, text: string, finish: string | null): JsonObject => ({
  index,
  text,
  logprobs: null,
  finish_reason: finish,
  stop_reason: null,
});
