import type { Input } from './input.js';
import type { LineState } from './results.js';

const TOKENS_MAX = 1e9;
const NONE: readonly number[] = [];

/** The rest of a batch: lines that have all that they need, or may copy, and so may start; and the rest of each program. */
export class Progress {
  /** Whether a line is ready, by its rank in the plan's order: the system searches a million bytes in some microseconds. */
  readonly #isReady: Buffer;
  readonly #ranks: Uint32Array;
  /** Lines that each waits for. */
  readonly #missing: Int32Array;
  /** Lines that copy the answer of another. */
  readonly #copies = new Map<number, number[]>();
  /** Lines of each program that are not done, and their tokens. */
  readonly #rests: { lines: number; promptTokens: number; outputTokens: number }[] = [];
  ready = 0;

  constructor(
    private readonly input: Pick<Input, 'lines' | 'order' | 'needs' | 'dependents' | 'originals' | 'programs'>,
    private readonly stateOf: (index: number) => LineState,
  ) {
    const { order, needs, originals } = input;
    this.#isReady = Buffer.alloc(order.length);
    this.#ranks = new Uint32Array(order.length);
    order.forEach((index, rank) => (this.#ranks[index] = rank));
    this.#missing = Int32Array.from(needs, ({ length }) => length);
    for (const [index, original] of originals.entries()) {
      this.#count(index, 1);
      if (original === index) continue;
      this.#missing[index] = (this.#missing[index] ?? 0) + 1;
      const copies = this.#copies.get(original);
      if (copies === undefined) this.#copies.set(original, [index]);
      else copies.push(index);
    }
    for (const [index, missing] of this.#missing.entries())
      if (missing === 0 && stateOf(index) === 'pending') this.add(index);
  }

  add(index: number): void {
    const rank = this.#ranks[index] ?? 0;
    this.ready += 1 - (this.#isReady[rank] ?? 1);
    this.#isReady[rank] = 1;
  }

  /** Removes the first ready line of a part of the order, given by shares of it, or without one the last of all. */
  take(from: number, to: number): number | undefined {
    if (this.ready === 0) return undefined;
    const { order } = this.input;
    const next = this.#isReady.indexOf(1, Math.floor(from * order.length));
    const rank = next >= 0 && next < Math.floor(to * order.length) ? next : this.#isReady.lastIndexOf(1);
    this.ready -= 1;
    this.#isReady[rank] = 0;
    return order[rank];
  }

  /** The line has an end, so those that waited for it may be ready. */
  done(index: number): void {
    const { needs, dependents } = this.input;
    this.#count(index, -1);
    for (const next of [...(dependents[index] ?? NONE), ...(this.#copies.get(index) ?? NONE)]) {
      const missing = (this.#missing[next] = (this.#missing[next] ?? 0) - 1);
      if (missing > 0 || this.stateOf(next) !== 'pending') continue;
      if ((needs[next] ?? NONE).every((need) => this.stateOf(need) === 'completed')) this.add(next);
    }
  }

  /** A call's program, and the rest of it as declared foresight. @param isLast whether its line has no further call */
  headersOf(index: number, name: string, isLast: boolean): Record<string, string> {
    const { programs, needs, dependents } = this.input;
    const program = programs[index] ?? 0;
    const rest = this.#restOf(program);
    const bounded = (tokens: number) => Math.round(Math.min(TOKENS_MAX, Math.max(0, tokens)));
    return {
      'x-maitred-program': `batch_${name}.${program}`,
      ...((needs[index] ?? NONE).length + (dependents[index] ?? NONE).length > 0 && {
        'x-maitred-remaining': `prompt=${bounded(rest.promptTokens)}, output=${bounded(rest.outputTokens)}`,
      }),
      ...(isLast && rest.lines === 1 && { 'x-maitred-final': 'true' }),
    };
  }

  #restOf(program: number) {
    return (this.#rests[program] ??= { lines: 0, promptTokens: 0, outputTokens: 0 });
  }

  #count(index: number, by: 1 | -1): void {
    const { promptTokens = 0, outputTokens = 0 } = this.input.lines[index] ?? {};
    const rest = this.#restOf(this.input.programs[index] ?? 0);
    rest.lines += by;
    rest.promptTokens += by * promptTokens;
    rest.outputTokens += by * outputTokens;
  }
}
