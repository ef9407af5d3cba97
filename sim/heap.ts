/** An item that knows its place in its heap, -1 outside. */
interface Placed {
  heapIndex: number;
}

/**
 * A binary heap: the first item is read in O(1), any other joins, leaves or moves in O(log n). An item is in one at a time.
 * `O`: what its order reads of an item.
 */
export class Heap<T extends O, O extends Placed = T> {
  readonly #heap: T[] = [];

  constructor(private readonly goesBefore: (a: O, b: O) => boolean) {}

  get size(): number {
    return this.#heap.length;
  }

  get first(): T | undefined {
    return this.#heap[0];
  }

  add(item: T): void {
    this.#heap.push(item);
    this.#up(this.#heap.length - 1, item);
  }

  remove(item: T): void {
    const index = item.heapIndex;
    item.heapIndex = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === item) return;
    this.#up(index, last);
    this.#down(last.heapIndex, last);
  }

  moved(item: T): void {
    this.#up(item.heapIndex, item);
    this.#down(item.heapIndex, item);
  }

  #up(start: number, item: T): void {
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !this.goesBefore(item, parent)) break;
      this.#put(index, parent);
      index = parentIndex;
    }
    this.#put(index, item);
  }

  #down(start: number, item: T): void {
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = this.#heap[childIndex];
      const right = this.#heap[childIndex + 1];
      if (child !== undefined && right !== undefined && this.goesBefore(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (child === undefined || !this.goesBefore(child, item)) break;
      this.#put(index, child);
      index = childIndex;
    }
    this.#put(index, item);
  }

  #put(index: number, item: T): void {
    this.#heap[index] = item;
    item.heapIndex = index;
  }
}
