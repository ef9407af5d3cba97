import type { Input } from './input.js';
import type { Results } from './results.js';

const NONE: readonly number[] = [];

/** The lines that may start: all that they need is there, and whatever answer they may copy has come or failed. */
export class Ready {
  /** Whether a line is ready, by its rank in the plan's order: the system searches a million bytes in some microseconds. */
  readonly #isReady: Buffer;
  readonly #ranks: Uint32Array;
  /** Lines that each waits for. */
  readonly #missing: Int32Array;
  /** Lines that copy the answer of another. */
  readonly #copies = new Map<number, number[]>();
  size = 0;

  constructor(
    private readonly input: Pick<Input, 'order' | 'needs' | 'dependents' | 'originals'>,
    private readonly results: Pick<Results, 'stateOf'>,
  ) {
    const { order, needs, originals } = input;
    this.#isReady = Buffer.alloc(order.length);
    this.#ranks = new Uint32Array(order.length);
    order.forEach((index, rank) => (this.#ranks[index] = rank));
    this.#missing = Int32Array.from(needs, ({ length }) => length);
    for (const [index, original] of originals.entries()) {
      if (original === index) continue;
      this.#missing[index] = (this.#missing[index] ?? 0) + 1;
      const copies = this.#copies.get(original);
      if (copies === undefined) this.#copies.set(original, [index]);
      else copies.push(index);
    }
    for (const [index, missing] of this.#missing.entries())
      if (missing === 0 && results.stateOf(index) === 'pending') this.add(index);
  }

  add(index: number): void {
    const rank = this.#ranks[index] ?? 0;
    this.size += 1 - (this.#isReady[rank] ?? 1);
    this.#isReady[rank] = 1;
  }

  /** Removes the first line of a part of the order, given by shares of it, or without one the last of all. */
  take(from: number, to: number): number | undefined {
    if (this.size === 0) return undefined;
    const { order } = this.input;
    const next = this.#isReady.indexOf(1, Math.floor(from * order.length));
    const rank = next >= 0 && next < Math.floor(to * order.length) ? next : this.#isReady.lastIndexOf(1);
    this.size -= 1;
    this.#isReady[rank] = 0;
    return order[rank];
  }

  /** The line has an end, so those that waited for it may be ready. */
  done(index: number): void {
    for (const next of [...(this.input.dependents[index] ?? NONE), ...(this.#copies.get(index) ?? NONE)]) {
      const missing = (this.#missing[next] = (this.#missing[next] ?? 0) - 1);
      if (missing === 0 && this.results.stateOf(next) === 'pending' && this.isWhole(next)) this.add(next);
    }
  }

  /** Whether all that the line needs is there. */
  isWhole(index: number): boolean {
    return (this.input.needs[index] ?? NONE).every((need) => this.results.stateOf(need) === 'completed');
  }
}
