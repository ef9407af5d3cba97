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

  constructor(private readonly opened: () => void) {}

  /**
   * The answer if it comes in time; otherwise undefined, and the store has failed. The limit counts the store's time and
   * not ours: an answer that is there already when a busy event loop gets to its timers is in time.
   */
  async inTime<T>(answer: Promise<T>, limitMs: number): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`the store did not answer within ${limitMs} ms`));
      timer = setTimeout(() => setImmediate(fail), limitMs);
    });
    try {
      const value = await Promise.race([answer, late]);
      this.#failedInRow = 0;
      return value;
    } catch (error) {
      this.failed(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param isLost no other operation can succeed either */
  failed(error: unknown, isLost = false): void {
    this.failures += 1;
    this.error = error instanceof Error ? error.message : String(error);
    this.#failedInRow += 1;
    this.#probedInRow = 0;
    if (!this.isClosed || (this.#failedInRow < FAILURES_MAX && !isLost)) return;
    this.isClosed = false;
    this.opened();
  }

  /** The open circuit's store has answered a probe in time. @returns whether the circuit has closed with it */
  probed(): boolean {
    this.#probedInRow += 1;
    this.isClosed = this.#probedInRow >= PROBES_MIN;
    return this.isClosed;
  }
}
