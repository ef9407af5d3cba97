import { learntRetention } from './retention-learnt.js';
import { halfLifeRetention } from './retention-half-life.js';

/**
 * The contexts that are told apart: what a program's first call leaves, and what a later call leaves. Finer classes (calls
 * made, tool called, at its home or not: sixteen) changed no mean by more than 1 % (docs/EXPERIMENTS.md).
 */
export type ContextClass = 'first' | 'later';

/**
 * Answers the question "how much of an idle context should the gate hold for its return?".
 * One for each engine: it may learn from the contexts of that engine. Time is counted in steps, of which
 * `STEPS_PER_HALF_LIFE` make a half-life, so that nothing changes between two steps by itself.
 *
 * Three promises are held against every one (test/conformance/retention.test.ts). A share lies between 0 and 1. Nothing is
 * held at `HORIZON_STEPS` or later. The same outcomes in the same order give the same shares.
 */
export interface RetentionPolicy {
  readonly name: string;
  /** Share of the context to hold, 0 to 1, after so many idle steps. @param worthSteps what its return is worth, in steps of its room */
  share(kind: ContextClass, age: number, worthSteps: number): number;
  /** @param age idle steps after which a context of the class was used again; undefined: it was not */
  learn(kind: ContextClass, age: number | undefined): void;
}

/** Every retention policy there is: a new one is a file in policies/ and a line here. */
const RETENTIONS = {
  learnt: learntRetention,
  'half-life': halfLifeRetention,
} satisfies Record<string, () => RetentionPolicy>;

export type RetentionName = keyof typeof RETENTIONS;
export const RETENTION_NAMES = Object.keys(RETENTIONS) as [RetentionName, ...RetentionName[]];

export function makeRetention(name: RetentionName): RetentionPolicy {
  return RETENTIONS[name]();
}
