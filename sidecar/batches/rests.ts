import type { Input } from './input.js';

const TOKENS_MAX = 1e9;

/** The rest of each program of a batch: lines that are not done, and their tokens. */
export class Rests {
  readonly #lines: Int32Array;
  readonly #promptTokens: Float64Array;
  readonly #outputTokens: Float64Array;
  readonly #size: Int32Array;

  constructor(private readonly input: Input) {
    const { length } = input.order;
    this.#lines = new Int32Array(length);
    this.#promptTokens = new Float64Array(length);
    this.#outputTokens = new Float64Array(length);
    for (let index = 0; index < length; index++) this.#count(index, 1);
    this.#size = this.#lines.slice();
  }

  done(index: number): void {
    this.#count(index, -1);
  }

  /** A call's program, and the rest of it as declared foresight. @param isLast whether its line has no further call */
  headersOf(index: number, name: string, isLast: boolean): Record<string, string> {
    const program = this.input.programs[index] ?? 0;
    const rest = (tokens: Float64Array) => Math.round(Math.min(TOKENS_MAX, Math.max(0, tokens[program] ?? 0)));
    return {
      'x-maitred-program': `batch_${name}.${program}`,
      ...((this.#size[program] ?? 0) > 1 && {
        'x-maitred-remaining': `prompt=${rest(this.#promptTokens)}, output=${rest(this.#outputTokens)}`,
      }),
      ...(isLast && this.#lines[program] === 1 && { 'x-maitred-final': 'true' }),
    };
  }

  #count(index: number, by: 1 | -1): void {
    const { programs, promptTokens, outputTokens } = this.input;
    const program = programs[index] ?? 0;
    this.#lines[program] = (this.#lines[program] ?? 0) + by;
    this.#promptTokens[program] = (this.#promptTokens[program] ?? 0) + by * (promptTokens[index] ?? 0);
    this.#outputTokens[program] = (this.#outputTokens[program] ?? 0) + by * (outputTokens[index] ?? 0);
  }
}
