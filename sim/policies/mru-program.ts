import type { CallArrived, EngineId, ProgramId } from '../../src/index.js';

/** A call in `mru-pause`. */
export interface MruCall {
  readonly event: CallArrived;
  readonly program: MruProgram;
  readonly arrivedMs: number;
}

/** An engine in `mru-pause`. */
export class Rank {
  /** Calls in the engine's own queue, by its last report. */
  waiting = 0;
  readonly active = new Set<MruProgram>();
  /** Tokens of its active programs' contexts. */
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
 * An active program's calls go to its engine at once; a paused one's calls are kept.
 */
export class MruProgram {
  active = false;
  /** Its kept calls, oldest first, and its running ones. */
  readonly kept = new Set<MruCall>();
  readonly running = new Set<MruCall>();
  /** Tokens of all its contexts, by the last calls of its threads. */
  tokens = 0;
  readonly #contexts = new Map<string, number>();
  /** Time from which it may be paused, while it is active and idle. */
  idleUntilMs = Infinity;
  /** Calls that have ended since it last became active. */
  rounds = 0;
  /** Paused for reaching its limit of rounds: others go first, once. */
  yielded = false;
  /** To be paused when its calls have ended. */
  overdrawn = false;
  callsEnded = 0;

  constructor(
    readonly id: ProgramId,
    public rank: Rank,
    /** Time of the last arrival or end of a call. */
    public usedMs: number,
  ) {}

  /** Records the context size of a thread's call. Beside running calls the size only grows. */
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
