import { invariant } from '../invariant.js';

/**
 * An entry of an indexed binary heap with one pending time per entry, the earliest first.
 *
 * Each stores its own index (-1: absent), so that moving or removing one costs O(log n) and leaves nothing stale behind.
 * Ties go to the lower `seq`: equal times fire in a fixed order.
 */
export interface Timed {
  heapIndex: number;
  timerAtMs: number;
  readonly seq: number;
}

export class TimerHeap<T extends Timed> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  peek(): T | undefined {
    return this.#heap[0];
  }

  /** Sets, moves or (with `Infinity`) removes the entry's time, in milliseconds. */
  set(entry: T, atMs: number): void {
    if (atMs === Infinity) return this.delete(entry);
    entry.timerAtMs = atMs;
    if (entry.heapIndex < 0) entry.heapIndex = this.#heap.push(entry) - 1;
    this.#up(entry.heapIndex);
    this.#down(entry.heapIndex);
  }

  delete(entry: T): void {
    const index = entry.heapIndex;
    if (index < 0) return;
    invariant(this.#heap[index] === entry, 'an entry is in its place in the heap');
    const last = this.#heap.pop() as T;
    entry.heapIndex = -1;
    if (last === entry) return;
    this.#put(last, index);
    this.#up(index);
    this.#down(last.heapIndex);
  }

  #up(start: number): void {
    let index = start;
    const entry = this.#at(index);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!earlier(entry, this.#at(parent))) break;
      this.#put(this.#at(parent), index);
      index = parent;
    }
    this.#put(entry, index);
  }

  #down(start: number): void {
    let index = start;
    const entry = this.#at(index);
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && earlier(this.#at(child + 1), this.#at(child))) child += 1;
      if (!earlier(this.#at(child), entry)) break;
      this.#put(this.#at(child), index);
      index = child;
    }
    this.#put(entry, index);
  }

  #at(index: number): T {
    return this.#heap[index] as T;
  }

  #put(entry: T, index: number): void {
    this.#heap[index] = entry;
    entry.heapIndex = index;
  }
}

function earlier(a: Timed, b: Timed): boolean {
  return a.timerAtMs < b.timerAtMs || (a.timerAtMs === b.timerAtMs && a.seq < b.seq);
}
