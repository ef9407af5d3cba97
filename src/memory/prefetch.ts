import type { NextCall } from '../foresight/thread-path.js';
import { TimerHeap } from '../queues/timer-heap.js';
import type { IdleThread } from './idle-thread.js';

/** Least probability of a thread's return for which its context is computed again. */
const PROBABILITY_MIN = 0.7;
/** Longest time from the expected return to its latest: a context that waits longer is likely to leave again. */
const WINDOW_MS_MAX = 120_000;
/** Warms begun for one return: a second one after a call took the room of the first. */
const ATTEMPTS_MAX = 2;
/** Threads whose warms are due; of further ones the longest due are given up. */
const DUE_MAX = 256;

/**
 * When a thread's context is to be computed again, ahead of its next call (SAGA, "speculative prefetch"): at the median
 * of the expected return, less the time that the warm takes itself. From then on it waits for room, as long as the
 * return is expected and the context is not cached.
 */
export class Prefetch {
  readonly #timers = new TimerHeap<IdleThread>();
  /** Threads whose warms are due, the longest due first. */
  readonly #due = new Set<IdleThread>();

  /** Time of the next warm that becomes due; Infinity without one. */
  get nextAtMs(): number {
    return this.#timers.peek()?.timerAtMs ?? Infinity;
  }

  /** Whether a warm waits for room. */
  get hasDue(): boolean {
    return this.#due.size > 0;
  }

  /** Threads whose warms are due, up to this time. */
  dueAt(nowMs: number): Iterable<IdleThread> {
    for (let idle = this.#timers.peek(); idle !== undefined && idle.timerAtMs <= nowMs; idle = this.#timers.peek()) {
      this.#timers.delete(idle);
      this.#enqueue(idle);
    }
    for (const idle of this.#due) if (idle.untilMs <= nowMs) this.forget(idle);
    return this.#due;
  }

  /** The return of an idle thread is foreseen, perhaps anew. @param next undefined: it is not */
  expect(idle: IdleThread, next: NextCall | undefined, warmMs: number, nowMs: number): void {
    if (idle.state === 'warming' || idle.state === 'warm') return;
    this.forget(idle);
    if (next === undefined || next.probability < PROBABILITY_MIN) return;
    if (next.p95Ms - next.medianMs > WINDOW_MS_MAX) return;
    idle.untilMs = nowMs + next.p95Ms;
    this.#timers.set(idle, nowMs + Math.max(0, next.medianMs - warmMs));
  }

  /** A call took the room of the thread's warm. */
  again(idle: IdleThread): void {
    if (idle.attempts < ATTEMPTS_MAX) this.#enqueue(idle);
  }

  /** Nothing is to be warmed for this return. */
  forget(idle: IdleThread): void {
    this.#timers.delete(idle);
    this.#due.delete(idle);
  }

  #enqueue(idle: IdleThread): void {
    this.#due.add(idle);
    if (this.#due.size <= DUE_MAX) return;
    for (const oldest of this.#due) return void this.#due.delete(oldest);
  }
}
