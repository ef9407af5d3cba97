import type { ProgramId } from '../protocol/units.js';

/** Contexts of one class that fell idle in the same step are held alike. What classes there are, each policy decides. */
export type ContextClass = number;

/** A context that falls idle, as a retention policy sees it. */
export interface Resting {
  readonly program: { readonly id: ProgramId; readonly callsFinished: number };
  readonly thread: string;
}

/**
 * Answers the question "how much of an idle context should the gate hold for its return?". Each engine has its own,
 * which may learn from that engine's contexts. Time is counted in steps, `STEPS_PER_HALF_LIFE` to a half-life, so that
 * nothing changes by itself between two steps.
 *
 * test/conformance/retention.test.ts holds every retention policy to three promises. A share lies between 0 and 1.
 * Nothing is held at `HORIZON_STEPS` or later. The same outcomes in the same order give the same shares.
 */
export interface RetentionPolicy {
  /** Whether a return is worth T* alone (`learntRetention`), also where that is next to nothing; absent: no. */
  readonly isByFillAlone?: boolean;
  /** Whether it learns of contexts alone that the cache kept until they returned; absent: no. */
  readonly isOfKept?: boolean;
  classOf(context: Resting): ContextClass;
  /** Share of the context to hold, 0 to 1, at this age in steps. @param worthSteps worth of a return, in steps of holding */
  share(kind: ContextClass, age: number, worthSteps: number): number;
  /** Learns one outcome. @param age idle steps after which the context was used again; undefined: it was not */
  learn(kind: ContextClass, age: number | undefined, context: Resting): void;
}
