import { optional, readTerms, type Api, type Reply } from '../apis/api.js';
import { readChatPrompt } from '../apis/chat.js';
import { readTexts } from '../apis/completions.js';
import { ApiError, string, type JsonObject } from '../apis/fields.js';
import { hashText, mix } from '../text/tokens.js';

/** POST /tokenize: a prompt, or messages and tools. */
export function tokenize(body: JsonObject, maxModelLen: number): JsonObject {
  const ids =
    body['messages'] === undefined ? (readTexts(body['prompt'], 'prompt')[0] ?? []) : readChatPrompt(body).ids;
  return { count: ids.length, max_model_len: maxModelLen, tokens: ids, token_strs: null };
}

const DIMENSIONS = 256;

/** POST /v1/embeddings: each input is a prompt with an answer of one token, its vector a pure function of its tokens. */
export const embeddings: Api = {
  read(body) {
    const encoding = string(body, 'encoding_format') ?? 'float';
    if (encoding !== 'float' && encoding !== 'base64') {
      throw new ApiError(400, 'encoding_format: float or base64 is expected', 'encoding_format');
    }
    const prompts = readTexts(body['input'], 'input').map(
      (ids) => ({ ids, messages: [], tools: [], toolChoice: 'none', isEmbedded: true }) as const,
    );
    return { terms: { ...readTerms(body, 1), stream: false, n: 1 }, prompts };
  },
  format: (reply) => ({
    delta: () => [],
    closing: () => [],
    whole: () => embeddingAnswer(reply),
  }),
};

function embeddingAnswer(reply: Reply): JsonObject {
  const usage = reply.usage();
  return {
    id: `embd-${reply.id}`,
    object: 'list',
    created: reply.createdAt,
    model: reply.model,
    data: reply.choices.map(({ index, promptIds }) => {
      const vector = embed(promptIds);
      const base64 = reply.terms.body['encoding_format'] === 'base64';
      const embedding = base64 ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
      return { index, object: 'embedding', embedding };
    }),
    ...optional('usage', usage && { prompt_tokens: usage.prompt, total_tokens: usage.prompt, completion_tokens: 0 }),
  };
}

function embed(ids: readonly number[]): Float32Array {
  let state = hashText('embedding');
  for (const id of ids) state = mix(state, id);
  const values = Array.from({ length: DIMENSIONS }, (_, index) => {
    state = mix(state + 0x6d2b79f5, index);
    return (state >>> 0) / 2 ** 31 - 1;
  });
  const norm = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / norm);
}
