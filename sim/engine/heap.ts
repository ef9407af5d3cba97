import type { Sequence } from './sequence.js';

/**
 * Sequences as a binary heap: the first is read in O(1), any other joins or leaves in O(log n). A sequence is in one
 * heap at a time and knows its place there.
 */
export class SequenceHeap<S extends Sequence> {
  readonly #heap: S[] = [];

  constructor(private readonly goesBefore: (a: Sequence, b: Sequence) => boolean) {}

  get size(): number {
    return this.#heap.length;
  }

  get first(): S | undefined {
    return this.#heap[0];
  }

  add(sequence: S): void {
    this.#heap.push(sequence);
    this.#up(this.#heap.length - 1, sequence);
  }

  remove(sequence: S): void {
    const index = sequence.heapIndex;
    sequence.heapIndex = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === sequence) return;
    this.#up(index, last);
    this.#down(last.heapIndex, last);
  }

  #up(start: number, sequence: S): void {
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !this.goesBefore(sequence, parent)) break;
      this.#put(index, parent);
      index = parentIndex;
    }
    this.#put(index, sequence);
  }

  #down(start: number, sequence: S): void {
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = this.#heap[childIndex];
      const right = this.#heap[childIndex + 1];
      if (child !== undefined && right !== undefined && this.goesBefore(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (child === undefined || !this.goesBefore(child, sequence)) break;
      this.#put(index, child);
      index = childIndex;
    }
    this.#put(index, sequence);
  }

  #put(index: number, sequence: S): void {
    this.#heap[index] = sequence;
    sequence.heapIndex = index;
  }
}
