import type { Counter } from 'prom-client';
import type { IdleProgram, Millis, ProgramGone, ProgramId } from '../../src/index.js';
import type { Histogram } from './histogram.js';

/** Idle time after which a program counts as complete for now: most clients never announce an end. */
const IDLE_MS = 60_000;

export interface CompletionPorts {
  /** Idle programs, the latest to fall idle first. */
  readonly idle: () => Iterable<IdleProgram>;
  readonly now: () => Millis;
}

/**
 * Counts each program once: when it leaves the table, or at the first scrape that finds it idle for a minute. If it
 * goes on after that, its time is corrected: sum and count become exact. Its bucket cannot follow, as Prometheus takes
 * a bucket that shrinks for a restart.
 */
export class Completions {
  /** Seconds counted of programs that are still in the table: no more than it has rows. */
  readonly #counted = new Map<ProgramId, number>();
  #countedUntilMs = -Infinity;

  constructor(
    private readonly seconds: Histogram,
    private readonly corrections: Counter,
    private readonly ports: CompletionPorts,
  ) {}

  /** Costs as much as there are programs that fell idle since the last scrape, or in the last minute. */
  countIdle(): void {
    const untilMs = this.ports.now() - IDLE_MS;
    for (const { program, idleSinceMs, durationMs } of this.ports.idle()) {
      if (idleSinceMs <= this.#countedUntilMs) break;
      if (idleSinceMs <= untilMs) this.#count(program, durationMs / 1000);
    }
    this.#countedUntilMs = untilMs;
  }

  gone({ program, durationMs }: ProgramGone): void {
    this.#count(program, durationMs / 1000);
    this.#counted.delete(program);
  }

  #count(program: ProgramId, seconds: number): void {
    const before = this.#counted.get(program);
    this.#counted.set(program, seconds);
    if (before === undefined) this.seconds.observe(seconds);
    else if (seconds > before) {
      this.seconds.correct(seconds - before);
      this.corrections.inc();
    }
  }
}
