import type { Api } from './api.js';
import {
  countPrompts,
  invalid,
  isAbsent,
  readFlag,
  readLimit,
  readMessages,
  readModel,
  readStreamOptions,
  readWhole,
} from './fields.js';
import { ChunkReader, openaiErrors, openaiUsageFields } from './openai.js';
import { promptBytes } from './prompt.js';
import { openaiUsage } from './usage.js';

/** An API whose answers are read for their usage alone. */
const openaiUnread: Pick<Api, 'readAnswer' | 'readStream' | keyof typeof openaiErrors> = {
  ...openaiErrors,
  readAnswer: (answer) => ({ usageObject: answer, usage: openaiUsage(answer['usage']) }),
  readStream: (facts) => new ChunkReader(facts, false),
};

/** OpenAI's text completions: `POST /v1/completions`. A prompt is one text, so there is no conversation to match. */
export const completions: Api = {
  kind: 'completions',

  readRequest(body) {
    const embedded = isAbsent(body['prompt']) && !isAbsent(body['prompt_embeds']);
    const prompts = embedded ? 1 : countPrompts(body);
    return {
      model: readModel(body),
      stream: readFlag(body, 'stream'),
      promptBytes: promptBytes(body['prompt'], body['suffix']),
      maxTokens: readLimit(body, 'max_tokens', 0),
      choices: (readWhole(body, 'n', 1) ?? 1) * Math.max(1, prompts),
      wantsUsage: readStreamOptions(body)['include_usage'] === true,
      conversation: () => [],
    };
  },

  usageFields: openaiUsageFields,
  ...openaiUnread,
};

/** OpenAI's embeddings, `POST /v1/embeddings`, and the `messages` that engines take in place of `input`. */
export const embeddings: Api = {
  kind: 'embeddings',

  readRequest(body) {
    const { input, messages } = body;
    if (isAbsent(input) && !isAbsent(messages)) readMessages(body);
    else if (typeof input !== 'string' && !Array.isArray(input)) throw invalid('input', 'a string or an array', body);
    return {
      model: readModel(body),
      stream: false,
      promptBytes: promptBytes(input, messages),
      maxTokens: 0,
      conversation: () => [],
    };
  },

  ...openaiUnread,
};
