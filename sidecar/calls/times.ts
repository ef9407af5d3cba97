import type { Dispatch, Millis } from '../../src/index.js';

/** When a call arrived, waited, went to an engine and began to be answered, by the driver's clock. */
export class CallTimes {
  readonly #arrivedAt: Millis;
  /** The time since which it waits; undefined: an engine has it. */
  #waitsSince: Millis | undefined;
  #dispatchedAt: Millis | undefined;
  #beganAt: Millis | undefined;

  constructor(private readonly clock: { now(): Millis }) {
    this.#arrivedAt = clock.now();
    this.#waitsSince = this.#arrivedAt;
  }

  waits(): void {
    this.#waitsSince ??= this.clock.now();
  }

  dispatched(): void {
    this.#dispatchedAt = this.clock.now();
    this.#waitsSince = undefined;
  }

  /** @returns how long after its dispatch */
  began(): number {
    this.#beganAt = this.clock.now();
    return this.#beganAt - (this.#dispatchedAt ?? this.#beganAt);
  }

  get ageMs(): number {
    return this.clock.now() - this.#arrivedAt;
  }

  /** The last attempt up to now. */
  get attempt() {
    const atMs = this.clock.now();
    return { fromMs: this.#dispatchedAt ?? atMs, atMs };
  }

  /** Its waits for all attempts, and the last one of a call that ends without another. @param last its last dispatch */
  queueMs(last: Dispatch | undefined): number {
    return (last?.queueMs ?? 0) + (this.#waitsSince === undefined ? 0 : this.clock.now() - this.#waitsSince);
  }

  /** Of a call that has ended just now. */
  figures(last: Dispatch | undefined) {
    const now = this.clock.now();
    return {
      queueMs: this.queueMs(last),
      ttftMs: this.#beganAt === undefined ? undefined : this.#beganAt - this.#arrivedAt,
      serviceMs: this.#dispatchedAt === undefined ? undefined : (this.#waitsSince ?? now) - this.#dispatchedAt,
      durationMs: now - this.#arrivedAt,
      wasRunning: this.#waitsSince === undefined,
    };
  }
}
