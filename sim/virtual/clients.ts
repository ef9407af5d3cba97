import type { Conditions } from './conditions.js';
import { exponential, type Draws } from './draws.js';
import type { Job } from './job.js';

/** Backoff of the OpenAI SDKs: doubled each time, less a random share of up to a quarter. */
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 8000;
const BACKOFF_JITTER = 0.25;
/** A longer `Retry-After` is ignored. */
const RETRY_AFTER_MS_MAX = 60_000;
/** Failures that an SDK retries: broken connections, timeouts, 408, 429 and 5xx. */
const RETRIED: ReadonlySet<string> = new Set([
  'client_timeout',
  'connection_lost',
  'stream_broken',
  'queue_full',
  'overloaded',
  'queue_timeout',
  'no_engine',
  'attempts_exhausted',
]);

/** The clients' own behaviour: timeouts, hang-ups, and retries. */
export class Clients {
  readonly #contextTokensMax: number;

  constructor(
    private readonly conditions: Conditions,
    private readonly draws: Draws,
    contextTokensMax: number,
  ) {
    this.#contextTokensMax = contextTokensMax;
  }

  /** Whether the call streams; without the clients' conditions all calls do. */
  streams(job: Job): boolean {
    const { clients } = this.conditions;
    return clients === undefined || this.draws.ofCall('streams', job) < clients.streamShare;
  }

  /** Prompt length of the first request: the call's own, unless drawn to be over-long. */
  firstPromptTokens(job: Job): number {
    const { overlong } = this.conditions;
    if (overlong === undefined || this.draws.ofCall('overlong', job) >= overlong.share) return job.promptTokens;
    return Math.max(overlong.promptTokens, this.#contextTokensMax);
  }

  /** Time after which the client gives up. */
  timeoutMs(job: Job): number {
    return job.streams ? Infinity : (this.conditions.clients?.timeoutMs ?? Infinity);
  }

  /** Time after which the client cancels the call, unless it has ended. */
  cancelAfterMs(job: Job): number {
    const { cancels } = this.conditions;
    if (cancels === undefined || this.draws.ofCall('cancelled', job, job.requests) >= cancels.share) return Infinity;
    return exponential(this.draws.ofCall('cancelTime', job, job.requests), cancels.afterMs);
  }

  /** Delay before an unanswered call is sent again; undefined: never. */
  asksAgainAfterMs(job: Job, reason: string, retryAfterMs?: number): number | undefined {
    const { clients, cancels } = this.conditions;
    if (reason === 'client_error' || (reason === 'too_long' && job.askedTokens !== job.promptTokens)) {
      // This is another request, with retries of its own.
      job.askedTokens = job.promptTokens;
      job.retries = 0;
      return 0;
    }
    if (reason === 'cancelled') {
      if (this.draws.ofCall('returns', job, job.requests) >= (cancels?.returnShare ?? 0)) return undefined;
      job.retries = 0;
      return cancels?.returnMs;
    }
    if (!RETRIED.has(reason) || job.retries >= (clients?.retries ?? 0)) return undefined;
    const backoffMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** job.retries);
    job.retries += 1;
    if (retryAfterMs !== undefined && retryAfterMs <= RETRY_AFTER_MS_MAX) return retryAfterMs;
    return backoffMs * (1 - BACKOFF_JITTER * this.draws.ofCall('backoff', job, job.requests));
  }
}
