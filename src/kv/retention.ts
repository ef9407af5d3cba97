import type { Call } from '../programs/call.js';

/** Steps that an idle context is waited for; one that comes back later counts as lost. */
export const HORIZON_STEPS = 64;
/** Steps in a half-life: time passes for idle contexts in steps, so that between two of them nothing changes by itself. */
export const STEPS_PER_HALF_LIFE = 16;
/** What was seen counts for less with each later outcome of the same kind: the last hundred or so are remembered. */
const MEMORY = 1 - 1 / 64;
/** Outcomes that the prior counts for, and the share of them that returns. */
const PRIOR_WEIGHT = 8;
const PRIOR_FIRST = 0.25;
const PRIOR = 0.9;
/** Calls that a program has made, in classes: 1, 2, 3-4, more. */
const CLASSES = 4;

/** A kind of idle context, for which returns are counted apart. */
export type ContextClass = number;

/** Outcomes of one kind, newer ones weighing more. */
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
    // No `**`, whose last digit differs between versions of Node: a recording must replay on any.
    const idle = (age: number): number => Math.exp((-Math.LN2 * age) / STEPS_PER_HALF_LIFE);
    const density = (age: number): number => idle(age) - idle(age + 1);
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
 * What part of an idle context the gate should hold for its return, given how long it has been idle: learnt from those
 * before it on the same engine.
 *
 *     share(age) = returned later than age / (returned later than age + lost),    while holding pays.
 *
 * Holding pays while the expected saving is more than the room is worth. A context of n tokens that returns saves the
 * n x prefill time of the whole engine; held for a time d it keeps n of the engine's C tokens from work, n/C x d. So what
 * is saved is worth T* = C x (prefill time of a token), whatever n is: the time to fill the whole cache; with h(age) the share
 * of those still idle that return in the next step d, the gain from holding on is
 *     G(age) = max(0, h(age) x T* + (1 - h(age)) x G(age + 1) - d),
 * and a context is held while G > 0. `worthSteps` is T* / d.
 *
 * A fixed half-life is wrong in three ways (docs/DESIGN.md has the figures). It holds as much cache for a finished one-shot
 * request as for an agent that runs a tool. It lets go of the agent from its first idle second, though nearly all come
 * back, and that trickle of room lets in newcomers that push residents out. And it holds the caches of people who read
 * for a minute, at several times the cost of computing them again. Kinds: calls made so far, whether the answer called a tool,
 * and whether the call ran at its program's home (a call that may run anywhere seldom comes back here).
 */
export class LearnedRetention {
  /** T* in steps. */
  worthSteps = Infinity;
  readonly #kinds = Array.from(
    { length: CLASSES * 4 },
    (_, kind) => new Outcomes(kind % CLASSES === 0 ? PRIOR_FIRST : PRIOR),
  );

  /** Share to hold, 0 to 1; `age` in steps. */
  share(kind: ContextClass, age: number): number {
    return this.#kinds[kind]?.share(age, this.worthSteps) ?? 0;
  }

  /** @param age steps after which a context of the kind was used again; undefined: it was not */
  learn(kind: ContextClass, age: number | undefined): void {
    this.#kinds[kind]?.learn(age);
  }
}

/** The kind of context that a finished call leaves. */
export function classOf(call: Call, calledTool: boolean, atHome: boolean): ContextClass {
  const { callsTotal } = call.program;
  const made = callsTotal <= 2 ? callsTotal - 1 : callsTotal <= 4 ? 2 : 3;
  return made + CLASSES * ((calledTool ? 2 : 0) + (atHome ? 1 : 0));
}
