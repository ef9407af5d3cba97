/**
 * Order of simultaneous events, by type. Ends make room before anything asks for it. An engine's next step begins after
 * all other events of its time.
 */
export const RANK = {
  stepEnds: 0,
  fault: 1,
  report: 2,
  programArrives: 3,
  clientLeaves: 4,
  callArrives: 5,
  wake: 6,
  stepBegins: 7,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** A future event, at a time that may still change. */
export class Appointment {
  atMs = 0;
  seq = 0;
  /** Index in the agenda, -1 outside it. */
  heapIndex = -1;

  constructor(
    readonly rank: Rank,
    readonly happen: () => void,
  ) {}
}

/** Future events by (time, type, order of insertion): an indexed binary heap, O(log n) to add, move or remove. */
export class Agenda {
  readonly #heap: Appointment[] = [];
  #seq = 0;
  #nowMs = 0;

  /** Time of the event taken last. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Adds the event at this time, or moves it there. */
  set(entry: Appointment, atMs: number): void {
    entry.atMs = atMs;
    entry.seq = this.#seq++;
    if (entry.heapIndex < 0) entry.heapIndex = this.#heap.push(entry) - 1;
    this.#up(entry.heapIndex, entry);
    this.#down(entry.heapIndex, entry);
  }

  /** Removes the next event and sets its time as the present; undefined when none is left. */
  take(): Appointment | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined) return undefined;
    top.heapIndex = -1;
    if (last !== top) this.#down(0, last);
    this.#nowMs = top.atMs;
    return top;
  }

  #up(start: number, entry: Appointment): void {
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex] as Appointment;
      if (!sooner(entry, parent)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(entry, index);
  }

  #down(start: number, entry: Appointment): void {
    const heap = this.#heap;
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = heap[childIndex];
      if (child === undefined) break;
      const right = heap[childIndex + 1];
      if (right !== undefined && sooner(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (!sooner(child, entry)) break;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(entry, index);
  }

  #put(entry: Appointment, index: number): void {
    this.#heap[index] = entry;
    entry.heapIndex = index;
  }
}

function sooner(a: Appointment, b: Appointment): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  return a.rank !== b.rank ? a.rank < b.rank : a.seq < b.seq;
}
