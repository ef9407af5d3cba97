import { FitTree, type Key } from './fit-tree.js';

export interface Timed {
  /** Infinity: none. */
  timerAtMs: number;
  readonly seq: number;
}

/** Entries with one pending time each, the earliest first; ties go to the lower `seq`: equal times fire in a fixed order. */
export class Timers<T extends Timed> {
  readonly #tree = new FitTree<T>();

  get size(): number {
    return this.#tree.size;
  }

  peek(): T | undefined {
    return this.#tree.first();
  }

  /** Sets, moves or (with `Infinity`) removes the entry's time, in milliseconds. */
  set(entry: T, atMs: number): void {
    if (atMs === entry.timerAtMs) return;
    if (entry.timerAtMs < Infinity) this.#tree.delete(keyOf(entry));
    entry.timerAtMs = atMs;
    if (atMs < Infinity) this.#tree.insert(keyOf(entry), entry, 0);
  }
}

const keyOf = ({ timerAtMs, seq }: Timed): Key => ({ level: timerAtMs, rank: 0, seq });
