import type { CallId, ProgramId } from '../protocol/units.js';

/**
 * Position of a call in the order: lower level first, then lower rank, then the earlier arrival. A rank has the unit of
 * its policy, as only calls of one policy compare: milliseconds, tokens or a ratio. It may be any finite number.
 */
export interface Standing {
  readonly level: number;
  readonly rank: number;
}

/** The facts of a call that decide its standing; without an id, any call that its program could make now. */
interface Arrival {
  readonly id?: CallId;
  readonly arrivedAtMs: number;
  readonly serviceAtArrivalMs: number;
  /** Prompt tokens beyond the family's shared prefix, of calls before the program's first answer; absent: 0. */
  readonly newPromptTokens?: number;
}

interface ProgramFacts {
  readonly id: ProgramId;
  /** Its declared rest (`foresight/`); undefined without foresight. */
  readonly outlook?: { declaredMs(serviceMs: number): number | undefined } | undefined;
  /** How soon programs of its agent type end; undefined: unknown. */
  readonly type?: { readonly index: { readonly isLearnt: boolean; msToEnd(serviceMs: number): number } };
}

/**
 * Answers the question "which waiting call runs next?".
 * The core's policies are stateless: rows keep what programs have used, and all time comes as an argument.
 *
 * test/conformance/policy.test.ts holds every policy to two promises. Calls that it has no reason to tell apart run in
 * order of arrival. A promoted call stands at level 0 with rank 0 and runs before younger ones whatever their rank.
 * Nothing is promoted from level 0, so all ranks there are 0: a policy that ranks calls does so from level 1 on.
 */
export interface Policy {
  readonly name: string;
  /** False: every call is dispatched on arrival, without window or gate. */
  readonly admits: boolean;
  /** Whether a running batch may hold a call back (`placement/knee.ts`); for policies that order by attained service. */
  readonly weighs?: boolean;
  /** Whether it ranks by the declared rest of a program, and by the learnt one. */
  readonly foresees?: boolean;
  readonly learns?: boolean;
  readonly levels: number;
  /**
   * Standing of a call that arrived at this time, with this attained service of its program.
   * @param nowMs the present on the driver's clock: the arrival, or later where it waits again or a view asks
   */
  stand(arrival: Arrival, program: ProgramFacts, nowMs: number): Standing;
}
