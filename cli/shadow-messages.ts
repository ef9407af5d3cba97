import type { PoolEstimate, ShadowSettings, WindowLimits } from '../lab/index.js';
import type { LogStep } from '../src/index.js';

/** What the thread of the estimates begins with. */
export interface ShadowStart {
  readonly limits: WindowLimits;
  readonly settings: ShadowSettings;
  /** Interval of load reports. */
  readonly reportMs: number;
  /** On the driver's clock, as all times. */
  readonly nowMs: number;
}

/** The thread answers each message before it gets the next one. */
export interface ToShadow {
  readonly nowMs: number;
  /** Forgets all earlier steps: some are missing, or these settings hold from now on. */
  readonly restart?: { readonly settings: ShadowSettings };
  readonly steps: readonly LogStep[];
  /** Asks for an estimate. */
  readonly estimates: boolean;
}

export interface FromShadow {
  /** Absent: none was asked for. */
  readonly made?: { readonly windowMs: number; readonly tookMs: number; readonly pools: readonly PoolEstimate[] };
}
