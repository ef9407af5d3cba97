/** An entry of a backlog. */
export interface Counted {
  readonly level: number;
  /** Tokens that it waits for. */
  readonly extraTokens: number;
}

/** Number and tokens of waiting calls, by level. */
export class Backlog {
  readonly #calls: number[] = [];
  readonly #tokens: number[] = [];

  add({ level, extraTokens }: Counted, sign: 1 | -1): void {
    this.#calls[level] = (this.#calls[level] ?? 0) + sign;
    this.#tokens[level] = (this.#tokens[level] ?? 0) + sign * extraTokens;
  }

  /** Number of calls at each level. */
  get calls(): readonly number[] {
    return this.#calls;
  }

  /** Counts anew. */
  reset(calls: Iterable<Counted>): void {
    this.#calls.length = 0;
    this.#tokens.length = 0;
    for (const call of calls) this.add(call, 1);
  }

  /** Number of other calls at levels up to `level`; 0 when they are larger on average: the call may then pass them. */
  ahead(call: Counted, level: number): number {
    let calls = call.level <= level ? -1 : 0;
    let tokens = call.level <= level ? -call.extraTokens : 0;
    for (let i = 0; i <= level; i += 1) {
      calls += this.#calls[i] ?? 0;
      tokens += this.#tokens[i] ?? 0;
    }
    return call.extraTokens * calls >= tokens ? calls : 0;
  }
}
