import type { Api } from './api.js';
import { invalid, isAbsent, readMessages, readModel } from './fields.js';
import { openaiUnread } from './openai.js';
import { promptBytes } from './size.js';

/** OpenAI's embeddings, `POST /v1/embeddings`, and the `messages` that engines take in place of `input`. */
export const embeddings: Api = {
  kind: 'embeddings',

  readRequest(body) {
    const { input, messages } = body;
    if (isAbsent(input) && !isAbsent(messages)) readMessages(body);
    else if (typeof input !== 'string' && !Array.isArray(input)) throw invalid('input', 'a string or an array');
    return {
      model: readModel(body),
      stream: false,
      promptBytes: promptBytes(input, messages),
      maxTokens: 0,
      choices: 1,
      wantsUsage: false,
      conversation: () => [],
    };
  },

  usageFields: () => ({}),
  ...openaiUnread,
};
