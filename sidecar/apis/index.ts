import type { Api } from './api.js';
import { chat } from './chat.js';
import { completions } from './completions.js';
import { embeddings } from './embeddings.js';
import { stringOf } from './fields.js';
import { countTokens, messages } from './messages.js';
import { responses } from './responses.js';

export type * from './api.js';
export { openingOf } from './opening.js';
export { KnownItem, type Outline } from './known-item.js';
export { promptBytes } from './size.js';

const APIS: ReadonlyMap<string, Api> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/completions', completions],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/v1/messages/count_tokens', countTokens],
  ['/v1/embeddings', embeddings],
]);

/** The API of a `POST` to this path; `undefined` for paths that are only passed through. */
export function apiFor(path: string): Api | undefined {
  const query = path.indexOf('?');
  return APIS.get(query < 0 ? path : path.slice(0, query));
}

/** Any JSON object that is only passed through. Only its model is read; '' for none. */
export const passed: Api = {
  ...chat,
  list: undefined,
  readRequest: (body) => ({
    model: stringOf(body['model']),
    stream: false,
    promptBytes: 0,
    choices: 1,
    wantsUsage: false,
    conversation: () => [],
  }),
};
