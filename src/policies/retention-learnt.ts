import { faded, HORIZON_STEPS } from './idle-steps.js';
import type { RetentionPolicy } from './retention.js';

/** Classes: left by a first answered call, or a later one. Sixteen changed no mean by over 1 % (docs/DESIGN.md). */
export const [FIRST, LATER] = [0, 1];
/** Factor by which each outcome fades with the next of its class: about the last hundred are remembered. */
const MEMORY = 1 - 1 / 64;
/** Weight of the prior in outcomes, and the share of them that returns. */
const PRIOR_WEIGHT = 8;
const PRIOR_RETURNS = { first: 0.25, later: 0.9 };

class Outcomes {
  /** Number of returns by age. */
  readonly #returned: Float64Array;
  #lost: number;
  /** By age: share of the contexts idle that long which still return; 0 once holding no longer pays. */
  readonly #share = new Float64Array(HORIZON_STEPS);
  /** The `worthSteps` that the shares were computed for; NaN: outcomes have come since. */
  #readFor = NaN;

  /** Starts from a prior whose returns come with the configured half-life. */
  constructor(prior: number) {
    const density = (age: number): number => faded(age) - faded(age + 1);
    this.#returned = Float64Array.from({ length: HORIZON_STEPS }, (_, age) => PRIOR_WEIGHT * prior * density(age));
    this.#lost = PRIOR_WEIGHT * (1 - prior);
  }

  learn(age: number | undefined): void {
    for (let step = 0; step < HORIZON_STEPS; step += 1) this.#returned[step] = (this.#returned[step] ?? 0) * MEMORY;
    this.#lost *= MEMORY;
    if (age === undefined || age >= HORIZON_STEPS) this.#lost += 1;
    else this.#returned[age] = (this.#returned[age] ?? 0) + 1;
    this.#readFor = NaN;
  }

  /** Computes the shares on demand: many outcomes come between two reads. */
  share(age: number, worthSteps: number): number {
    if (worthSteps !== this.#readFor) this.#read(worthSteps);
    return this.#share[age] ?? 0;
  }

  /** Backward induction from the last age: the gain of holding one step longer, and then as long as that pays. */
  #read(worthSteps: number): void {
    this.#readFor = worthSteps;
    let later = 0;
    let gain = 0;
    for (let age = HORIZON_STEPS - 1; age >= 0; age -= 1) {
      const returned = this.#returned[age] ?? 0;
      later += returned;
      const idle = later + this.#lost;
      const hazard = returned / idle;
      gain = Math.max(0, hazard * (worthSteps + 0.5) + (1 - hazard) * gain - 1);
      this.#share[age] = gain > 0 ? later / idle : 0;
    }
  }
}

/**
 * Holds an idle context while that is expected to pay, by the times at which earlier contexts of the engine returned.
 *
 *     share(age) = returned later than age / (returned later than age + lost),    while holding pays.
 *
 * Holding pays while the expected saving exceeds the cost of the room. The return of a context of n tokens saves n x
 * the prefill time of a token. Holding it for a time d keeps n of the engine's C tokens from other work: n/C x d. So a
 * return is worth T* = C x (prefill time of a token), the time to fill the whole cache, whatever n is. Let h(age) be
 * the share of the contexts still idle that return within the next step d. The gain from holding on is
 *     G(age) = max(0, h(age) x (T* + d/2) + (1 - h(age)) x G(age + 1) - d),
 * as a return comes halfway through its step on average. A context is held while G > 0; `worthSteps` is T* / d.
 */
export function learntRetention(): RetentionPolicy {
  const [first, later] = [new Outcomes(PRIOR_RETURNS.first), new Outcomes(PRIOR_RETURNS.later)];
  return {
    classOf: ({ program }) => (program.callsFinished <= 1 ? FIRST : LATER),
    share: (kind, age, worthSteps) => (kind === FIRST ? first : later).share(age, worthSteps),
    learn: (kind, age) => (kind === FIRST ? first : later).learn(age),
  };
}
