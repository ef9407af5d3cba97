import type { Ask, LoadApi } from './apis/api.js';
import type { Outcome } from './exchange.js';
import type { Target } from './target.js';

/** Sends calls one by one before a run. */
export interface Prober {
  readonly target: Target;
  readonly api: LoadApi;
  readonly model: string;
  /** Whether the length of answers can be set exactly. */
  readonly isExact: boolean;
  /** Sends one call, whatever its outcome. */
  readonly call: (ask: Pick<Ask, 'items' | 'outputTokens'>) => Promise<Outcome>;
  /** POST of JSON; undefined unless the answer is a success with a JSON object. */
  readonly post: (path: string, body: object) => Promise<Record<string, unknown> | undefined>;
}
