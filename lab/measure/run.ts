import { type EngineResult, runWorld, type WorldOptions, type ProgramRecord } from '../../sim/index.js';
import { type ProgramFigures, figuresOf, Gathering, sortedByName } from './measures.js';
import { Reservoir } from './sample.js';

/** Measures of a run, its engines included; docs/SIMULATOR.md explains every field. */
export type RunMeasures = Readonly<ReturnType<typeof measureRun>>;

/** Programs of a run above which completions are not kept. */
const COMPLETIONS_MAX = 100_000;

export interface RunHooks {
  readonly shouldStop: () => boolean;
  readonly onProgress: (programs: number) => void;
}

export function measureRun(
  options: Omit<WorldOptions, 'observer' | 'shouldStop'>,
  { shouldStop, onProgress }: RunHooks,
) {
  const gathering = new Gathering(options.seed);
  const backlog = new Backlog(options.seed);
  const completions = new Map<string, ProgramFigures>();
  const { complete, promotions, engines, programOutcomes, retries } = runWorld({
    ...options,
    observer: {
      callEnded: (call) => gathering.callEnded(call),
      programEnded: (program) => {
        gathering.programEnded(program);
        backlog.programEnded(program);
        if (program.outcome === 'completed' && completions.size <= COMPLETIONS_MAX)
          completions.set(program.program, figuresOf(program));
        onProgress(gathering.programs);
      },
    },
    shouldStop,
  });
  const measures = gathering.measures();
  const sum = (of: (engine: EngineResult) => number) => engines.reduce((all, engine) => all + of(engine), 0);
  const busyMs = sum((engine) => engine.busyMs);
  const queriedTokens = sum((engine) => engine.queriedTokens);
  const hitTokens = sum((engine) => engine.hitTokens);
  const hostTokens = sum((engine) => engine.host?.hitTokens ?? 0);
  const spanMs = 1000 * (measures.makespan_seconds ?? 0);
  return {
    /** False when it was stopped before all of its programs had ended. */
    complete,
    ...measures,
    prefix_hit_rate: share(hitTokens + hostTokens, queriedTokens),
    ...(engines.some(({ host }) => host !== undefined) && { host_hit_rate: share(hostTokens, queriedTokens) }),
    preemptions: sum((engine) => engine.preemptions),
    engine_waits: sum((engine) => engine.waits),
    /** Null where too few programs tell. */
    queue_grew: options.arrivals.type === 'closed' ? null : backlog.grew(),
    kv_use: share(
      sum((engine) => engine.kvUsage * engine.busyMs),
      busyMs,
    ),
    // In a stopped run, engines may have computed beyond the end of its last program.
    engine_busy: share(Math.min(busyMs, spanMs * engines.length), spanMs * engines.length),
    starvation_promotions: promotions,
    /** Programs that failed because of the system, not because their own client cancelled for good. */
    lost: measures.failed - (programOutcomes['cancelled'] ?? 0),
    retries: sortedByName(Object.entries(retries)),
    /** Completed programs by their ids, for comparisons over the same ones; undefined for too many. */
    completions: completions.size > COMPLETIONS_MAX ? undefined : completions,
  };
}

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

/** Share by which arrivals must exceed the capacity for an overload to show: twice the share by which chance bunches them. */
export const shownFrom = (programs: number): number => 2 / Math.sqrt(programs);

const PROGRAMS_MIN = 20;
/** The same of any number, whether late programs grow in number or not: engines did 80 % of them. */
const DRAIN_SHARE = 0.25;
/** Times of a program alone for which others must arrive, so that the last ones to end tell more than their own length. */
const SPANS_MIN = 3;

type Stay = Readonly<Record<'arrivedMs' | 'endedMs' | 'aloneMs', number>>;

/**
 * Whether a run is a drain: more arrived than could be served, so that its times tell how long it lasted and nothing
 * else. Counts late programs: those that would have ended in an empty system. In an overload their number grows, and
 * they go on after the last arrival. A burst does one of both, unless it is the last: of n arrivals, chance bunches
 * about the square root of n. A policy that holds back a few long ones shows an overload only by their going on.
 */
export class Backlog {
  readonly #programs: Reservoir<Stay>;
  #firstMs = Infinity;
  #lastMs = -Infinity;
  /** The last program to end. */
  #end: Stay = { arrivedMs: -Infinity, endedMs: -Infinity, aloneMs: 0 };

  constructor(seed: number) {
    this.#programs = new Reservoir(seed);
  }

  programEnded({ arrivedMs, endedMs, aloneMs, outcome }: ProgramRecord): void {
    this.#firstMs = Math.min(this.#firstMs, arrivedMs);
    this.#lastMs = Math.max(this.#lastMs, arrivedMs);
    // Of a failed program nobody knows when it would have ended.
    if (outcome !== 'completed' || Number.isNaN(aloneMs)) return;
    const stay = { arrivedMs, endedMs, aloneMs };
    this.#programs.add(stay);
    if (endedMs > this.#end.endedMs) this.#end = stay;
  }

  /** From the first arrival to the last; below 0 without any. */
  get spanMs(): number {
    return this.#lastMs - this.#firstMs;
  }

  /** Programs that had ended when the last arrived. */
  get endedBefore(): number {
    const { kept, count } = this.#programs;
    return (kept.filter(({ endedMs }) => endedMs <= this.#lastMs).length * count) / Math.max(1, kept.length);
  }

  /**
   * Whether the queue grew for as long as programs arrived; null where too few programs tell.
   * @param base share of the times alone that they are in truth
   */
  grew(base = 1): boolean | null {
    const { spanMs } = this;
    const { kept } = this.#programs;
    if (kept.length < PROGRAMS_MIN || spanMs <= 0) return null;
    const late = (from: number, until: number): number => {
      const [fromMs, untilMs] = [this.#firstMs + from * spanMs, this.#firstMs + until * spanMs];
      const lateMs = kept.reduce(
        (sum, { arrivedMs, aloneMs, endedMs }) =>
          sum + Math.max(0, Math.min(endedMs, untilMs) - Math.max(arrivedMs + base * aloneMs, fromMs)),
        0,
      );
      return lateMs / (untilMs - fromMs);
    };
    const { arrivedMs, endedMs } = this.#end;
    const aloneMs = base * this.#end.aloneMs;
    const drain = (endedMs - Math.max(arrivedMs + aloneMs, this.#lastMs)) / spanMs;
    const chance = Math.sqrt(kept.length) / 2;
    // The first quarter fills the engines.
    const grows = late(0.75, 1) > late(0.5, 0.75) && late(0.75, 1) - late(0.25, 0.5) >= chance;
    if (grows && drain > shownFrom(kept.length)) return true;
    return drain > DRAIN_SHARE && (spanMs >= SPANS_MIN * aloneMs || null);
  }
}
