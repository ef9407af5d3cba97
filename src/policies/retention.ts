/**
 * Class of a context: left by a program's first call, or by a later one. Sixteen finer classes (by calls made, tool
 * called and home) changed no mean by more than 1 % (docs/DESIGN.md, "Retention").
 */
export type ContextClass = 'first' | 'later';

/**
 * Answers the question "how much of an idle context should the gate hold for its return?". Each engine has its own,
 * which may learn from that engine's contexts. Time is counted in steps, `STEPS_PER_HALF_LIFE` to a half-life, so that
 * nothing changes by itself between two steps.
 *
 * test/conformance/retention.test.ts holds every retention policy to three promises. A share lies between 0 and 1.
 * Nothing is held at `HORIZON_STEPS` or later. The same outcomes in the same order give the same shares.
 */
export interface RetentionPolicy {
  readonly name: string;
  /**
   * Share of the context to hold, 0 to 1, at this age in steps. @param worthSteps worth of a return, in steps of
   * holding
   */
  share(kind: ContextClass, age: number, worthSteps: number): number;
  /**
   * Learns one outcome. @param age idle steps after which a context of the class was used again; undefined: it was not
   */
  learn(kind: ContextClass, age: number | undefined): void;
}
