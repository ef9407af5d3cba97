import type { Observer } from '../calls/observers.js';
import type { IdleProgram, Millis, ProgramGone, ProgramId } from '../../src/index.js';
import type { KnownPrograms, Told } from '../watch/known-programs.js';

/** Idle time after which a program counts as complete for now: most clients never announce an end. */
const IDLE_MS = 60_000;
/** Counted of a program whose last call was not answered, in the place of its seconds. */
const UNANSWERED = -1;
const GONE_MAX = 1000;

interface Counting {
  /** @param atMs when the program counted as complete */
  counted(seconds: number, atMs: number): void;
  /** A counted program went on for so much longer. */
  corrected?(seconds: number): void;
  /** A program ended, or fell idle, whose last call was not answered. */
  unanswered(seconds: number, atMs: number): void;
}

export interface CompletionsPorts {
  /** Idle programs, the latest to fall idle first. */
  readonly idle: () => Iterable<IdleProgram>;
  readonly known: Pick<KnownPrograms, 'of' | 'leaving'>;
  readonly now: () => Millis;
}

/**
 * Counts each program once: when it leaves the table, or at the first reading that finds it idle for a minute. If it
 * goes on after that, its time is corrected: sum and count become exact. Its bucket cannot follow, as Prometheus takes
 * a bucket that shrinks for a restart. Background programs do not count. One that had no answer to its last call counts apart, until it gets one.
 */
export class Completions implements Observer {
  /** Seconds counted of programs that are still in the table: no more than it has rows. */
  readonly #counted = new Map<ProgramId, number>();
  /** Counts programs that have left it. How the last call of one ended is told a moment later. */
  readonly #gone: (() => void)[] = [];
  #countedUntilMs = -Infinity;
  readonly #countings: Counting[] = [];

  constructor(private readonly ports: CompletionsPorts) {}

  add(counting: Counting): void {
    this.#countings.push(counting);
  }

  /** Costs as much as there are programs that ended or fell idle since the last reading, or in the last minute. */
  count(): void {
    this.#countGone();
    const untilMs = this.ports.now() - IDLE_MS;
    for (const { program, idleSinceMs, durationMs } of this.ports.idle()) {
      if (idleSinceMs <= this.#countedUntilMs) break;
      if (idleSinceMs > untilMs) continue;
      const [before, told] = [this.#counted.get(program), this.ports.known.of({ id: program, removed: undefined })];
      this.#counted.set(program, this.#count(before, told, durationMs, idleSinceMs + IDLE_MS));
    }
    this.#countedUntilMs = untilMs;
  }

  programGone(gone: ProgramGone): void {
    const { program, durationMs } = gone;
    const [before, told, atMs] = [this.#counted.get(program), this.ports.known.leaving(gone), this.ports.now()];
    this.#counted.delete(program);
    this.#gone.push(() => this.#count(before, told, durationMs, atMs));
    if (this.#gone.length >= GONE_MAX) this.#countGone();
  }

  #countGone(): void {
    for (const count of this.#gone.splice(0)) count();
  }

  /** @param before what was counted of the program @returns what is counted now */
  #count(before: number | undefined, told: Told | undefined, durationMs: number, atMs: number): number {
    // Nobody waits for it.
    if (told?.isBackground === true) return before ?? UNANSWERED;
    const seconds = durationMs / 1000;
    const isAnswered = told?.isAnswered ?? true;
    const wasAnswered = before !== undefined && before !== UNANSWERED;
    for (const counting of this.#countings)
      if (wasAnswered) {
        if (seconds > before) counting.corrected?.(seconds - before);
      } else if (isAnswered) counting.counted(seconds, atMs);
      else if (before === undefined) counting.unanswered(seconds, atMs);
    return wasAnswered || isAnswered ? seconds : UNANSWERED;
  }
}
