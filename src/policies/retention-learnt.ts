import { faded, HORIZON_STEPS } from './idle-steps.js';
import type { ContextClass, RetentionPolicy } from './retention.js';

/** What was seen counts for less with each later outcome of the same kind: the last hundred or so are remembered. */
const MEMORY = 1 - 1 / 64;
/** Outcomes that the prior counts for, and the share of them that returns. */
const PRIOR_WEIGHT = 8;
const PRIOR_RETURNS = { first: 0.25, later: 0.9 };

/** Outcomes of one class, newer ones weighing more. */
class Outcomes {
  /** Returns by the age at which they came. */
  readonly #returned: Float64Array;
  #lost: number;
  /** By age: the share that still comes back of those idle for so long; 0 once holding them does not pay. */
  readonly #share = new Float64Array(HORIZON_STEPS);
  /** What the shares were read for; NaN: there were outcomes since. */
  #readFor = NaN;

  /** Starts from a prior whose returns come with the configured half-life. */
  constructor(prior: number) {
    const density = (age: number): number => faded(age) - faded(age + 1);
    this.#returned = Float64Array.from({ length: HORIZON_STEPS }, (_, age) => PRIOR_WEIGHT * prior * density(age));
    this.#lost = PRIOR_WEIGHT * (1 - prior);
  }

  /** @param age steps after which it returned; undefined: it did not */
  learn(age: number | undefined): void {
    for (let step = 0; step < HORIZON_STEPS; step += 1) this.#returned[step] = (this.#returned[step] ?? 0) * MEMORY;
    this.#lost *= MEMORY;
    if (age === undefined || age >= HORIZON_STEPS) this.#lost += 1;
    else this.#returned[age] = (this.#returned[age] ?? 0) + 1;
    this.#readFor = NaN;
  }

  /** Read when it is asked for: much is learnt between two looks. */
  share(age: number, worthSteps: number): number {
    if (worthSteps !== this.#readFor) this.#read(worthSteps);
    return this.#share[age] ?? 0;
  }

  /** From the last age back: what it is worth to hold the context one step longer, and then as long as that pays. */
  #read(worthSteps: number): void {
    this.#readFor = worthSteps;
    let later = 0;
    let gain = 0;
    for (let age = HORIZON_STEPS - 1; age >= 0; age -= 1) {
      const returned = this.#returned[age] ?? 0;
      later += returned;
      const idle = later + this.#lost;
      const hazard = returned / idle;
      gain = Math.max(0, hazard * worthSteps + (1 - hazard) * gain - 1);
      this.#share[age] = gain > 0 ? later / idle : 0;
    }
  }
}

/**
 * Holds an idle context as long as that is expected to pay, by when those before it on the same engine came back.
 *
 *     share(age) = returned later than age / (returned later than age + lost),    while holding pays.
 *
 * Holding pays while the expected saving is more than the room is worth. A context of n tokens that returns saves the
 * n x prefill time of the whole engine; held for a time d it keeps n of the engine's C tokens from work, n/C x d. So what
 * is saved is worth T* = C x (prefill time of a token), whatever n is: the time to fill the whole cache; with h(age) the share
 * of those still idle that return in the next step d, the gain from holding on is
 *     G(age) = max(0, h(age) x T* + (1 - h(age)) x G(age + 1) - d),
 * and a context is held while G > 0. `worthSteps` is T* / d.
 */
export function learntRetention(): RetentionPolicy {
  const outcomes = { first: new Outcomes(PRIOR_RETURNS.first), later: new Outcomes(PRIOR_RETURNS.later) };
  return {
    name: 'learnt',
    share: (kind: ContextClass, age, worthSteps) => outcomes[kind].share(age, worthSteps),
    learn: (kind: ContextClass, age) => outcomes[kind].learn(age),
  };
}
