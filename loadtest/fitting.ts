import type { AgentProgram } from '../workloads/index.js';

/** Tokens of a call that are too many for any model, where a target does not tell. */
const TOKENS_MAX = 4_000_000;
/** Programs in a row that do not fit, after which no other is looked for. */
const MISSES_MAX = 10_000;
/** Programs that are looked at before a run: enough for a share, and soon made up. */
const FORESEEN_MAX = 1_000;

/** Leaves out programs with calls that no target can answer: they would only measure how fast these are refused. */
export class Fitting {
  readonly #tokensMax: number;
  /** Programs left out, each told once. */
  readonly #misses = new Set<string>();

  /** @param maxModelLens longest prompt and answer together of each target */
  constructor(maxModelLens: readonly number[]) {
    this.#tokensMax = Math.min(TOKENS_MAX, ...maxModelLens);
  }

  get leftOut(): number {
    return this.#misses.size;
  }

  *of(programs: Iterable<AgentProgram>): Generator<AgentProgram, void> {
    let misses = 0;
    for (const program of programs) {
      if (this.#fits(program)) {
        misses = 0;
        yield program;
        continue;
      }
      this.#misses.add(program.id);
      misses += 1;
      if (misses >= MISSES_MAX) return;
    }
  }

  /** What a run will leave out, by the first of its programs; undefined where that is none of them. */
  foresee(programs: Iterable<AgentProgram>, maxPrograms: number): string | undefined {
    const most = Math.min(maxPrograms, FORESEEN_MAX);
    let looked = 0;
    let tooLong = 0;
    for (const program of programs) {
      looked += 1;
      if (!this.#fits(program)) tooLong += 1;
      if (looked >= most) break;
    }
    if (tooLong === 0) return undefined;
    const share = ((100 * tooLong) / looked).toFixed(0);
    return `Of the first ${looked} programs, ${tooLong} (${share} %) will be left out: they have calls longer than the ${this.#tokensMax} tokens that a target's model takes.`;
  }

  /** Of words that were recorded, only the target can tell how many tokens they are. */
  #fits({ calls }: AgentProgram): boolean {
    return calls.every(
      ({ messages, promptTokens, outputTokens }) =>
        (messages === undefined ? promptTokens : 0) + outputTokens <= this.#tokensMax,
    );
  }
}
