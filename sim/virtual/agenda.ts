import { Heap } from '../heap.js';

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

export class Appointment {
  atMs = 0;
  seq = 0;
  heapIndex = -1;

  constructor(
    readonly rank: Rank,
    readonly happen: () => void,
  ) {}
}

/** Future events by (time, type, order of insertion). */
export class Agenda {
  readonly #heap = new Heap<Appointment>(goesBefore);
  #seq = 0;
  /** Time of the event taken last. */
  nowMs = 0;

  set(entry: Appointment, atMs: number): void {
    entry.atMs = atMs;
    entry.seq = this.#seq++;
    if (entry.heapIndex < 0) this.#heap.add(entry);
    else this.#heap.moved(entry);
  }

  /** Has something happen once. */
  at(rank: Rank, atMs: number, happen: () => void): void {
    this.set(new Appointment(rank, happen), atMs);
  }

  /** Removes the next event and sets its time as the present; undefined when none is left. */
  take(): Appointment | undefined {
    const { first } = this.#heap;
    if (first === undefined) return undefined;
    this.#heap.remove(first);
    this.nowMs = first.atMs;
    return first;
  }
}

function goesBefore(a: Appointment, b: Appointment): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  return a.rank !== b.rank ? a.rank < b.rank : a.seq < b.seq;
}
