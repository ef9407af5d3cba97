/** Failures in a row after which a store counts as away. */
const FAILURES_MAX = 3;
/** Good probes in a row after which it is used again. With one, a store that is slow at times would come and go. */
const PROBES_MIN = 3;

/** Whether the store is used. The circuit begins open, with the store unused. */
export class Circuit {
  isClosed = false;
  /** Failures since the start, and the last one in words. */
  failures = 0;
  error: string | undefined;
  #failedInRow = 0;
  #probedInRow = 0;

  passed(): void {
    this.#failedInRow = 0;
  }

  /**
   * @param isLost no other operation can succeed either
   * @returns whether the circuit has opened with this failure
   */
  failed(error: unknown, isLost = false): boolean {
    this.failures += 1;
    this.error = error instanceof Error ? error.message : String(error);
    this.#failedInRow += 1;
    this.#probedInRow = 0;
    if (!this.isClosed || (this.#failedInRow < FAILURES_MAX && !isLost)) return false;
    this.isClosed = false;
    return true;
  }

  /** The open circuit's store has answered a probe in time. @returns whether the circuit has closed with it */
  probed(): boolean {
    this.#probedInRow += 1;
    this.isClosed = this.#probedInRow >= PROBES_MIN;
    return this.isClosed;
  }
}
