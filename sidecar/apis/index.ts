import type { Api } from './api.js';
import { chat } from './chat.js';
import { completions } from './completions.js';
import { countTokens } from './count-tokens.js';
import { embeddings } from './embeddings.js';
import { messages } from './messages.js';
import { responses } from './responses.js';

export type * from './api.js';
export { passed } from './passed.js';
export { openingOf } from './opening.js';
export { promptBytes } from './size.js';

const APIS: ReadonlyMap<string, Api> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/completions', completions],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/v1/messages/count_tokens', countTokens],
  ['/v1/embeddings', embeddings],
]);

/** The API that a `POST` to this path speaks; `undefined` for paths that are only passed through. */
export function apiFor(path: string): Api | undefined {
  const query = path.indexOf('?');
  return APIS.get(query < 0 ? path : path.slice(0, query));
}
