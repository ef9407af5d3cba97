/** What is to happen, by time; ties in the order in which they were put down. A binary heap: O(log n) an entry. */
export class Agenda {
  readonly #heap: { atMs: number; seq: number; run: () => void }[] = [];
  #seq = 0;

  get size(): number {
    return this.#heap.length;
  }

  put(atMs: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { atMs, seq: this.#seq++, run };
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !sooner(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  /** Takes out the next entry; undefined when nothing is left. */
  take(): { readonly atMs: number; readonly run: () => void } | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || last === top) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const right = heap[child + 1];
      const left = heap[child];
      if (left === undefined) break;
      let least = left;
      if (right !== undefined && sooner(right, left)) [least, child] = [right, child + 1];
      if (!sooner(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return top;
  }
}

function sooner(a: { atMs: number; seq: number }, b: { atMs: number; seq: number }): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq);
}
