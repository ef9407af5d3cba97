import type { SchedulerConfig } from '../config.js';
import type { Policy } from '../policies/policy.js';
import type { Usage } from '../protocol/events.js';
import type { CallId, EngineId, ProgramId } from '../protocol/units.js';

/** A balancer's view of an engine. All counts are the scheduler's own, never a stale scrape. */
export interface Candidate {
  readonly id: EngineId;
  /** Order of joining, unique: breaks every tie. */
  readonly index: number;
  readonly inFlight: number;
  /** Tokens of running and of bound calls. */
  readonly loadTokens: number;
  /** Size of its KV cache, where known. */
  readonly capacityTokens: number | undefined;
}

export interface Placeable {
  readonly id: CallId;
  readonly program: { readonly id: ProgramId };
  readonly promptTokens: number;
}

/** Where a call runs. It never sees the queues. Its memory is bounded: same events, same answers. */
export interface Balancer {
  readonly name: string;
  /** Whether a call may leave its engine when that stays full or the call is overdue. */
  readonly spills: boolean;
  /**
   * A call starts to wait. Returns the engine that must run it; undefined: any, chosen when it runs.
   * @param home the live engine that its program is bound to
   * @param live the engines that serve its model, in order of joining; may be empty
   */
  place<E extends Candidate>(call: Placeable, home: E | undefined, live: readonly E[]): E | undefined;
  /** The call's turn has come. Returns one of `open`, which is never empty; each has room for the call. */
  choose<E extends Candidate>(call: Placeable, open: readonly E[]): E;
  /** Whether the engine that runs this call becomes its program's home. */
  binds(call: Placeable, engine: Candidate): boolean;
  dispatched?(call: Placeable, engine: Candidate): void;
  /** It has finished. `warm`: on the engine where its program ran before. */
  finished?(call: Placeable, usage: Usage, warm: boolean): void;
  /** The engine's cache is lost. */
  lost?(engine: Candidate): void;
}

/** The rules of placement; replaced as a whole on reload. */
export interface PlacementRules {
  readonly config: SchedulerConfig;
  readonly balancer: Balancer;
  readonly policy: Pick<Policy, 'admits' | 'weighs'>;
}
