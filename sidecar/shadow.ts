import type { Recorder } from './driver.js';

/** Why an estimate has no figure. */
export const DOUBTS = [
  'capacity_unknown',
  'cache_unknown',
  'engines_differ',
  'few_programs',
  'unanswered',
  'not_fitted',
  'beyond_seen',
  'model_differs',
  'too_slow',
] as const;

/** What `fcfs` would have made of the latest programs of engines that share models. */
interface PoolEstimate {
  readonly models: readonly string[];
  /** Number of engines. */
  readonly engines: number;
  /** Programs that the means are of; calls of all programs. */
  readonly programs: number;
  readonly calls: number;
  /** Undefined: the figures below are there. */
  readonly doubt: (typeof DOUBTS)[number] | undefined;
  /** Mean time of a program: measured, and simulated under the policy in force and under `fcfs`. */
  readonly measuredMs: number | undefined;
  readonly simulatedMs: number | undefined;
  readonly fcfsMs: number | undefined;
  /** `fcfsMs` over `simulatedMs`, with its 95 % interval. */
  readonly ratio:
    { readonly ratio: number | null; readonly low: number | null; readonly high: number | null } | undefined;
  /** Median error of the engine model's times of single calls. */
  readonly callError: number | undefined;
}

export interface ShadowReport {
  /** On the driver's clock. */
  readonly madeAtMs: number;
  readonly windowMs: number;
  readonly tookMs: number;
  readonly pools: readonly PoolEstimate[];
}

/** Estimates the gain of the policy in force. It sees all steps of the scheduler, and works elsewhere. */
export interface Shadow extends Recorder {
  /** Undefined: none yet. */
  latest(): ShadowReport | undefined;
}
