import type { CallArrived, EngineId, ProgramId } from '../../src/index.js';

/** A call in `mru-pause`. */
export interface MruCall {
  readonly event: CallArrived;
  readonly program: MruProgram;
  readonly arrivedMs: number;
}

/** An engine in `mru-pause`. */
export class Rank {
  /** In the engine's own queue, by its last report. */
  waiting = 0;
  readonly active = new Set<MruProgram>();
  /** Contexts of its active programs. */
  usedTokens = 0;

  constructor(
    readonly id: EngineId,
    public capacityTokens: number,
  ) {}

  get freeTokens(): number {
    return this.capacityTokens - this.usedTokens;
  }
}

/**
 *     new ──room──> active ──idle beyond its time, over its rounds, or no room──> paused ──room, or waited too long──> active
 *
 * An active program's calls go to its engine as they come; those of a paused one are kept.
 */
export class MruProgram {
  active = false;
  /** Calls that are kept, oldest first, and those that run. */
  readonly kept = new Set<MruCall>();
  readonly running = new Set<MruCall>();
  /** All its contexts, by the last calls of its threads. */
  tokens = 0;
  readonly #contexts = new Map<string, number>();
  /** When it may be paused, while it is active and idle. */
  idleUntilMs = Infinity;
  /** Calls that have ended since it last became active. */
  rounds = 0;
  /** Was paused for having had its rounds: others go first, once. */
  yielded = false;
  /** Is to be paused when its calls have ended. */
  overdrawn = false;
  callsEnded = 0;

  constructor(
    readonly id: ProgramId,
    public rank: Rank,
    /** Last arrival or end of a call. */
    public usedMs: number,
  ) {}

  /** A call of this thread has so large a context; beside others, at least as large a one as they have. */
  saw(thread: string, tokens: number): void {
    const before = this.#contexts.get(thread) ?? 0;
    const more = this.running.size > 0 ? Math.max(0, tokens - before) : tokens - before;
    this.#contexts.set(thread, before + more);
    this.tokens += more;
    if (this.active) this.rank.usedTokens += more;
  }

  activate(rank: Rank): void {
    this.rank = rank;
    this.active = true;
    this.yielded = false;
    this.rounds = 0;
    rank.active.add(this);
    rank.usedTokens += this.tokens;
  }

  pause(): void {
    this.active = false;
    this.overdrawn = false;
    this.rank.active.delete(this);
    this.rank.usedTokens -= this.tokens;
  }
}
