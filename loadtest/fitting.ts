import type { AgentProgram } from '../workloads/index.js';

/** Upper bound on a call's tokens where a target reports none. */
const TOKENS_MAX = 4_000_000;
/** Upper bound on unfit programs in a row, after which the search ends. */
const MISSES_MAX = 10_000;
/** Programs examined before a run: enough for a share, and quickly drawn. */
const FORESEEN_MAX = 1_000;

/** Drops programs with calls that no target can answer, which would only measure how fast they are refused. */
export class Fitting {
  readonly #tokensMax: number;
  /** Programs left out, each listed once. */
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

  /** Predicts the programs that a run will leave out, from its first ones; undefined: none of these. */
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

  /** Whether all calls fit. The tokens of recorded texts are known only to the target. */
  #fits({ calls }: AgentProgram): boolean {
    return calls.every(
      ({ messages, promptTokens, outputTokens }) =>
        (messages === undefined ? promptTokens : 0) + outputTokens <= this.#tokensMax,
    );
  }
}
