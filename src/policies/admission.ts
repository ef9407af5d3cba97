/** A call that has a slot and room, and the batch that it would join. */
export interface Joining {
  /** Its weight, per millisecond, and its program's attained service, at least some first quanta. */
  readonly index: number;
  readonly serviceMs: number;
  /** The call's wait so far. */
  readonly waitedMs: number;
  readonly loadTokens: number;
  /** Sum of the weights of the calls in the batch, and their load. */
  readonly batchIndex: number;
  readonly batchTokens: number;
  /** Time of an empty step, and the further time for each token of load. */
  readonly emptyMs: number;
  readonly msPerToken: number;
  /** Share of the room in the cache that is taken, by contexts in use and the claims of idle ones; 0 without a gate. */
  readonly takenShare: number;
}

/**
 * Answers the question "does it pay to run this call now, or would it slow down those that run by more?".
 * Asked of a call that has a slot and room. Stateless, and a function of what it is shown.
 *
 * test/conformance/admission.test.ts holds every admission policy to three promises. An empty batch is always joined. A
 * call that may join may still join after a longer wait. Every call may join after some wait.
 */
export interface AdmissionPolicy {
  readonly name: string;
  admits(call: Joining): boolean;
}
