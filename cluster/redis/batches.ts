/** Entries of one batch: the server does nothing else while it applies one. */
export const BATCH_MAX = 128;
/** Entries that wait while a batch is under way; beyond them the oldest are dropped. */
const WAITING_MAX = 10_000;

/** Collects entries while a batch is under way, and sends them with the next one. Of a key, the last entry counts. */
export class Batches<V> {
  readonly #waiting = new Map<string, V>();
  #running: Promise<void> | undefined;

  /** @param send never rejects */
  constructor(private readonly send: (values: readonly V[]) => Promise<void>) {}

  add(key: string, value: V): void {
    this.#waiting.delete(key);
    this.#waiting.set(key, value);
    if (this.#waiting.size > WAITING_MAX) this.#takeFirst(1);
    this.#running ??= this.#sendAll();
  }

  delete(key: string): void {
    this.#waiting.delete(key);
  }

  clear(): void {
    this.#waiting.clear();
  }

  get sent(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async #sendAll(): Promise<void> {
    // Those of one tick go together.
    await Promise.resolve();
    while (this.#waiting.size > 0) await this.send(this.#takeFirst(BATCH_MAX));
    this.#running = undefined;
  }

  #takeFirst(count: number): V[] {
    const values: V[] = [];
    for (const [key, value] of this.#waiting) {
      if (values.length === count) break;
      this.#waiting.delete(key);
      values.push(value);
    }
    return values;
  }
}
