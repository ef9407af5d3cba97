import type { Engine } from '../engine/engine.js';
import type { Sequence, Work } from '../engine/sequence.js';

/** A request that is notified of its progress. */
export interface Job extends Work {
  /** More tokens have been generated, or it has finished: called once for all the steps of a wake-up. */
  progressed(): void;
}

/** Longest delay a Node timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Drives an engine model in wall time, `speed` times as fast. Steps start and end in model time, each at the end of the
 * one before it. A late wake-up catches up on all steps that are due, so the model's results do not depend on the
 * host's load. At high speed one wake-up, with one notice a request, serves many steps.
 */
export class Runner {
  readonly #origin = performance.now();
  readonly #touched = new Set<Job>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    readonly engine: Engine<Job>,
    private readonly speed: number,
  ) {}

  /** Model time in milliseconds. */
  now(): number {
    return (performance.now() - this.#origin) * this.speed;
  }

  submit(job: Job): Sequence<Job> | undefined {
    const now = this.now();
    this.#catchUp(now);
    const sequence = this.engine.add(job, now);
    if (Number.isNaN(this.engine.cut(now))) this.engine.begin(now);
    this.#arm(now);
    return sequence;
  }

  abort(sequence: Sequence<Job>): boolean {
    const now = this.now();
    this.#catchUp(now);
    this.#arm(now);
    return this.engine.abort(sequence, now);
  }

  /** The engine comes to rest after the step under way, or goes on. */
  setStuck(isStuck: boolean): void {
    const now = this.now();
    this.#catchUp(now);
    this.engine.isStuck = isStuck;
    if (Number.isNaN(this.engine.stepEnd)) this.engine.begin(now);
    this.#arm(now);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #wake(): void {
    const now = this.now();
    this.#catchUp(now);
    this.#arm(now);
    for (const job of this.#touched) {
      this.#touched.delete(job);
      job.progressed();
    }
  }

  #catchUp(now: number): void {
    while (this.engine.stepEnd <= now) {
      const end = this.engine.stepEnd;
      for (const sequence of this.engine.end()) this.#touched.add(sequence.work);
      this.engine.begin(end);
    }
  }

  /** Sets the engine's one timer: to the end of the step under way, or to now when notices of earlier steps are due. */
  #arm(now: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const end = this.#touched.size > 0 ? now : this.engine.stepEnd;
    if (Number.isNaN(end)) return;
    const delay = Math.min((end - now) / this.speed, TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.#wake(), delay);
  }
}
