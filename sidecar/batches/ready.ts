/** Numbers, the least first. */
export class Ready {
  readonly #heap: number[] = [];

  get size(): number {
    return this.#heap.length;
  }

  add(rank: number): void {
    const heap = this.#heap;
    let at = heap.push(rank) - 1;
    for (let up = (at - 1) >> 1; at > 0 && (heap[up] ?? 0) > rank; up = (at - 1) >> 1) {
      heap[at] = heap[up] ?? 0;
      at = up;
    }
    heap[at] = rank;
  }

  take(): number | undefined {
    const heap = this.#heap;
    const [least] = heap;
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return least;
    let at = 0;
    for (let down = 1; down < heap.length; down = 2 * at + 1) {
      if ((heap[down + 1] ?? Infinity) < (heap[down] ?? 0)) down += 1;
      if ((heap[down] ?? 0) >= last) break;
      heap[at] = heap[down] ?? 0;
      at = down;
    }
    heap[at] = last;
    return least;
  }
}
