import type { Api } from './api.js';
import { messages, readMessagesRequest } from './messages.js';

/**
 * Anthropic's `POST /v1/messages/count_tokens`. No conversation can continue from a count, so it reports none.
 * Otherwise the count would take the place of the call that it precedes.
 */
export const countTokens: Api = {
  ...messages,
  kind: 'count_tokens',
  readRequest: (body) => ({ ...readMessagesRequest(body), stream: false, maxTokens: 0, conversation: () => [] }),
  readAnswer: () => ({ tools: [] }),
};
