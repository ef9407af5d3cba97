import type { CallOutcome } from './records.js';
import type { EngineResult, WorldResult } from './options.js';

/** Counts ended calls and programs. */
export class Tally {
  readonly #programOutcomes: Record<string, number> = {};
  readonly #callOutcomes: Record<string, number> = {};
  readonly #retries: Record<string, number> = {};
  #callsCancelled = 0;
  #firstMs = NaN;
  #lastMs = NaN;

  arrived(nowMs: number): void {
    if (Number.isNaN(this.#firstMs)) this.#firstMs = nowMs;
  }

  callEnded(outcome: CallOutcome): void {
    count(this.#callOutcomes, outcome);
  }

  retried(reason: string): void {
    count(this.#retries, reason);
  }

  cancelled(calls: number): void {
    this.#callsCancelled += calls;
  }

  programEnded(outcome: CallOutcome, nowMs: number): void {
    count(this.#programOutcomes, outcome);
    this.#lastMs = nowMs;
  }

  result(complete: boolean, promotions: number, engines: readonly EngineResult[]): WorldResult {
    return {
      complete,
      programs: sum(this.#programOutcomes),
      calls: sum(this.#callOutcomes),
      programOutcomes: this.#programOutcomes,
      callOutcomes: this.#callOutcomes,
      retries: this.#retries,
      callsCancelled: this.#callsCancelled,
      makespanMs: Number.isNaN(this.#lastMs) ? 0 : this.#lastMs - this.#firstMs,
      promotions,
      engines,
    };
  }
}

function count(counts: Record<string, number>, outcome: string): void {
  counts[outcome] = (counts[outcome] ?? 0) + 1;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, one) => all + one, 0);
