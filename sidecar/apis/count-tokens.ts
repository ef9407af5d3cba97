import type { Api } from './api.js';
import { messages, readMessagesRequest } from './messages.js';

/**
 * Anthropic's `POST /v1/messages/count_tokens`. It answers nothing that a conversation could go on from, so it has none:
 * a count must not take the place of the call that it prepares.
 */
export const countTokens: Api = {
  ...messages,
  kind: 'count_tokens',
  readRequest: (body) => ({ ...readMessagesRequest(body), stream: false, maxTokens: 0, conversation: () => [] }),
  readAnswer: () => ({ tools: [] }),
};
