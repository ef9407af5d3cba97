import type { Api } from './api.js';
import { chat } from './chat.js';
import { completions, embeddings } from './completions.js';
import { stringOf } from './fields.js';
import { countTokens, messages } from './messages.js';
import { responses } from './responses.js';

export type * from './api.js';
export { countTokens, responses };
export { KnownItem, openingOf, promptBytes, type Outline } from './prompt.js';

/** The APIs of scheduled calls, by their paths: a `POST` there is a call of a program. */
export const SCHEDULED: ReadonlyMap<string, Api> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/completions', completions],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/v1/embeddings', embeddings],
]);

export const COUNT_TOKENS = '/v1/messages/count_tokens';

/** The API of a `POST` to this path; `undefined` for paths that are only passed through. */
export function apiFor(path: string): Api | undefined {
  const [own = ''] = path.split('?', 1);
  return own === COUNT_TOKENS ? countTokens : SCHEDULED.get(own);
}

/** The API of a path. Any other path gets the API of its family, whose errors its clients can read: also `/v1/v1/messages`. */
export const familyOf = (path: string): Api => apiFor(path) ?? (path.includes('/v1/messages') ? messages : chat);

/** Any JSON object that is only passed through. Only its model is read; '' for none. */
export const passed: Api = {
  ...chat,
  list: undefined,
  readRequest: (body) => ({
    model: stringOf(body['model']),
    stream: false,
    promptBytes: 0,
    conversation: () => [],
  }),
};
