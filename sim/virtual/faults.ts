import type { Dice } from '../../workloads/index.js';
import type { Conditions } from './conditions.js';
import { exponential, type Draws } from './draws.js';
import type { Job } from './job.js';

/** An engine's answers to a dispatch other than running the call. */
export type Fault =
  | { readonly type: 'busy' | 'unreached'; readonly restMs: number }
  | { readonly type: 'broken' }
  | { readonly type: 'refused'; readonly outcome: 'too_long' | 'client_error' };

/** The faults of engines. */
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
    if (busy !== undefined && this.#burstsOf(engine, busy).contain(nowMs)) return { type: 'busy', restMs: busy.restMs };
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
      this.#bursts.set(engine, (bursts = new Bursts(this.draws.ofEngine('busy', engine), share, burstMs)));
    return bursts;
  }
}

/** Random intervals, queried in ascending order of time. */
class Bursts {
  readonly #pauseMs: number;
  #fromMs: number;
  #toMs: number;

  /** @param share share of all time that lies in bursts */
  constructor(
    private readonly dice: Dice,
    share: number,
    private readonly burstMs: number,
  ) {
    this.#pauseMs = share > 0 ? (burstMs * (1 - share)) / share : Infinity;
    this.#fromMs = this.#toMs = 0;
  }

  contain(nowMs: number): boolean {
    while (this.#toMs <= nowMs) {
      this.#fromMs = this.#toMs + exponential(this.dice.share(), this.#pauseMs);
      this.#toMs = this.#fromMs + exponential(this.dice.share(), this.burstMs);
    }
    return this.#fromMs <= nowMs;
  }
}
