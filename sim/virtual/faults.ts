import { Dice } from '../../workloads/index.js';
import type { Job } from './job.js';
import type { Conditions } from './conditions.js';

/** Kinds of chance, each a stream of its own: switching one on leaves the draws of the others alone. */
const STREAMS = [
  'streams',
  'cancelled',
  'cancelTime',
  'returns',
  'backoff',
  'refused',
  'overlong',
  'broken',
  'busy',
  'loss',
  'pause',
  'declared',
  'mistaken',
  'load',
] as const;
type Stream = (typeof STREAMS)[number];

/**
 * Random draws for the conditions. A draw depends on the call and its attempt, not on the order of events. So a call
 * meets the same faults under every policy.
 */
export class Draws {
  constructor(private readonly seed: number) {}

  ofEngine(stream: Stream, engine: number): Dice {
    return Dice.of(this.#seedOf(stream), engine);
  }

  /**
   * A number from 0 to below 1.
   * @param turn index of this draw for the call
   */
  ofCall(stream: Stream, { played, index }: Job, turn = 0): number {
    const program = Math.imul(played.index + 1, 0x27d4eb2f) ^ Math.imul(turn + 1, 0x165667b1);
    return Dice.of(this.#seedOf(stream) ^ program, index).share();
  }

  /** A number from 0 to below 1, the same for all calls of a program. */
  ofProgram(stream: Stream, { played }: Job): number {
    return Dice.of(this.#seedOf(stream), played.index).share();
  }

  #seedOf(stream: Stream): number {
    return Math.imul(this.seed + 1, 0x9e3779b1) ^ Math.imul(STREAMS.indexOf(stream) + 1, 0x85ebca6b);
  }
}

/** An exponentially distributed time with this mean. @param share uniform, from 0 to below 1 */
export const exponential = (share: number, meanMs: number): number => -Math.log(1 - share) * meanMs;

/** An engine's answers to a dispatch other than running the call. */
export type Fault =
  | { readonly type: 'busy' | 'unreached'; readonly restMs: number }
  | { readonly type: 'broken' }
  | { readonly type: 'refused'; readonly outcome: 'too_long' | 'client_error' };

export class Faults {
  readonly #bursts = new Map<number, Bursts>();

  constructor(
    private readonly conditions: Conditions,
    private readonly draws: Draws,
    private readonly contextTokensMax: number,
  ) {}

  /** The fault of a dispatch; undefined: the engine runs the call. @param engine index of the engine */
  of(job: Job, engine: number, nowMs: number): Fault | undefined {
    const { busy, broken, refusals } = this.conditions;
    if (broken !== undefined && this.draws.ofCall('broken', job, job.dispatches) < broken.share)
      return { type: 'broken' };
    if (busy !== undefined && this.#burstsOf(engine, busy)(nowMs)) return { type: 'busy', restMs: busy.restMs };
    if (job.askedTokens >= this.contextTokensMax) return { type: 'refused', outcome: 'too_long' };
    if (refusals !== undefined && this.draws.ofCall('refused', job, job.requests) < refusals.share)
      return { type: 'refused', outcome: 'client_error' };
    return undefined;
  }

  /** Whether what a dispatched call loads from the host is lost. */
  failsLoad(job: Job): boolean {
    const { failedLoads } = this.conditions;
    return failedLoads !== undefined && this.draws.ofCall('load', job, job.dispatches) < failedLoads.share;
  }

  #burstsOf(engine: number, { share, burstMs }: NonNullable<Conditions['busy']>): Bursts {
    let bursts = this.#bursts.get(engine);
    if (bursts === undefined)
      this.#bursts.set(engine, (bursts = burstsOf(this.draws.ofEngine('busy', engine), share, burstMs)));
    return bursts;
  }
}

type Bursts = (nowMs: number) => boolean;

/** Whether a time, asked for in ascending order, lies in one of random intervals. @param share share of all time that does */
function burstsOf(dice: Dice, share: number, burstMs: number): Bursts {
  const pauseMs = share > 0 ? (burstMs * (1 - share)) / share : Infinity;
  let [fromMs, toMs] = [0, 0];
  return (nowMs) => {
    while (toMs <= nowMs) {
      fromMs = toMs + exponential(dice.share(), pauseMs);
      toMs = fromMs + exponential(dice.share(), burstMs);
    }
    return fromMs <= nowMs;
  };
}

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

export class Clients {
  constructor(
    private readonly conditions: Conditions,
    private readonly draws: Draws,
    private readonly contextTokensMax: number,
  ) {}

  /** Whether the call streams; without the clients' conditions all calls do. */
  streams(job: Job): boolean {
    const { clients } = this.conditions;
    return clients === undefined || this.draws.ofCall('streams', job) < clients.streamShare;
  }

  /** Prompt length of the first request: the call's own, unless drawn to be over-long. */
  firstPromptTokens(job: Job): number {
    const { overlong } = this.conditions;
    if (overlong === undefined || this.draws.ofCall('overlong', job) >= overlong.share) return job.promptTokens;
    return Math.max(overlong.promptTokens, this.contextTokensMax);
  }

  timeoutMs(job: Job): number {
    return job.streams ? Infinity : (this.conditions.clients?.timeoutMs ?? Infinity);
  }

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
