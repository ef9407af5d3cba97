/**
 * Memory shared by the threads and their starter, because a thread in the middle of a run receives no messages: `[stop,
 * programs ended in run 0, in run 1, ...]`.
 */
export class Signals {
  readonly #cells: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#cells = new Int32Array(buffer);
  }

  static forRuns(runs: number): Signals {
    return new Signals(new SharedArrayBuffer((1 + runs) * Int32Array.BYTES_PER_ELEMENT));
  }

  get isStopped(): boolean {
    return Atomics.load(this.#cells, 0) !== 0;
  }

  stop(): void {
    Atomics.store(this.#cells, 0, 1);
  }

  tell(run: number, programs: number): void {
    Atomics.store(this.#cells, 1 + run, programs);
  }

  /** Ended programs of all runs together. */
  get programs(): number {
    return this.#cells.reduce((sum, count, at) => (at === 0 ? 0 : sum + count), 0);
  }
}
