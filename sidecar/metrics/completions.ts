import type { IdleProgram, Millis, ProgramGone, ProgramId } from '../../src/index.js';

/** Idle time after which a program counts as complete for now: most clients never announce an end. */
const IDLE_MS = 60_000;

interface Counting {
  /** @param atMs when the program counted as complete */
  counted(seconds: number, atMs: number): void;
  /** A counted program went on for so much longer. */
  corrected?(seconds: number): void;
}

export interface CompletionPorts {
  /** Idle programs, the latest to fall idle first. */
  readonly idle: () => Iterable<IdleProgram>;
  readonly now: () => Millis;
}

/**
 * Counts each program once: when it leaves the table, or at the first reading that finds it idle for a minute. If it
 * goes on after that, its time is corrected: sum and count become exact. Its bucket cannot follow, as Prometheus takes
 * a bucket that shrinks for a restart.
 */
export class Completions {
  /** Seconds counted of programs that are still in the table: no more than it has rows. */
  readonly #counted = new Map<ProgramId, number>();
  #countedUntilMs = -Infinity;

  constructor(
    private readonly counting: Counting,
    private readonly ports: CompletionPorts,
  ) {}

  /** Costs as much as there are programs that fell idle since the last reading, or in the last minute. */
  countIdle(): void {
    const untilMs = this.ports.now() - IDLE_MS;
    for (const { program, idleSinceMs, durationMs } of this.ports.idle()) {
      if (idleSinceMs <= this.#countedUntilMs) break;
      if (idleSinceMs <= untilMs) this.#count(program, durationMs / 1000, idleSinceMs + IDLE_MS);
    }
    this.#countedUntilMs = untilMs;
  }

  gone({ program, durationMs }: ProgramGone): void {
    this.#count(program, durationMs / 1000, this.ports.now());
    this.#counted.delete(program);
  }

  #count(program: ProgramId, seconds: number, atMs: number): void {
    const before = this.#counted.get(program);
    this.#counted.set(program, seconds);
    if (before === undefined) this.counting.counted(seconds, atMs);
    else if (seconds > before) this.counting.corrected?.(seconds - before);
  }
}
