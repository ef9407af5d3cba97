import type { Observer } from '../calls/observers.js';
import type { IdleProgram, Millis, ProgramGone, ProgramId } from '../../src/index.js';

/** Idle time after which a program counts as complete for now: most clients never announce an end. */
const IDLE_MS = 60_000;

interface Counting {
  /** @param atMs when the program counted as complete */
  counted(seconds: number, atMs: number): void;
  /** A counted program went on for so much longer. */
  corrected?(seconds: number): void;
}

/**
 * Counts each program once: when it leaves the table, or at the first reading that finds it idle for a minute. If it
 * goes on after that, its time is corrected: sum and count become exact. Its bucket cannot follow, as Prometheus takes
 * a bucket that shrinks for a restart.
 */
export class Completions implements Observer {
  /** Seconds counted of programs that are still in the table: no more than it has rows. */
  readonly #counted = new Map<ProgramId, number>();
  #countedUntilMs = -Infinity;
  readonly #countings: Counting[] = [];

  /** @param idle idle programs, the latest to fall idle first */
  constructor(
    private readonly idle: () => Iterable<IdleProgram>,
    private readonly now: () => Millis,
  ) {}

  add(counting: Counting): void {
    this.#countings.push(counting);
  }

  /** Costs as much as there are programs that fell idle since the last reading, or in the last minute. */
  countIdle(): void {
    const untilMs = this.now() - IDLE_MS;
    for (const { program, idleSinceMs, durationMs } of this.idle()) {
      if (idleSinceMs <= this.#countedUntilMs) break;
      if (idleSinceMs <= untilMs) this.#count(program, durationMs / 1000, idleSinceMs + IDLE_MS);
    }
    this.#countedUntilMs = untilMs;
  }

  programGone({ program, durationMs }: ProgramGone): void {
    this.#count(program, durationMs / 1000, this.now());
    this.#counted.delete(program);
  }

  #count(program: ProgramId, seconds: number, atMs: number): void {
    const before = this.#counted.get(program);
    this.#counted.set(program, seconds);
    for (const counting of this.#countings)
      if (before === undefined) counting.counted(seconds, atMs);
      else if (seconds > before) counting.corrected?.(seconds - before);
  }
}
