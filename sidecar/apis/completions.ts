import type { Api } from './api.js';
import { countPrompts, isAbsent, readFlag, readLimit, readModel, readStreamOptions, readWhole } from './fields.js';
import { openaiUnread, openaiUsageFields } from './openai.js';
import { promptBytes } from './size.js';

/** OpenAI's text completions: `POST /v1/completions`. A prompt is one text, so there is no conversation to match. */
export const completions: Api = {
  kind: 'completions',

  readRequest(body) {
    const embedded = isAbsent(body['prompt']) && !isAbsent(body['prompt_embeds']);
    const prompts = embedded ? 1 : countPrompts(body['prompt'], 'prompt');
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
