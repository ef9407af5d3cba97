import type { EngineId, Event } from '../../src/index.js';

/**
 * States of an engine.
 *
 *     joining --healthy--> up <-- a first byte, or --- probation <--healthy-- ejected
 *                          |     the next good probe       |                     ^
 *                          +----- failuresMax in a row ----+------ one failure --+
 *
 * `joining`: not yet healthy; probed with backoff. `up`. `probation`: half-open, one call at a time. `ejected`: probed
 * with backoff. `draining`, from any state: takes no new calls, and is not probed.
 */
export const ENGINE_STATES = ['joining', 'up', 'probation', 'ejected', 'draining'] as const;
export type EngineState = (typeof ENGINE_STATES)[number];

/** Whether calls can go to the engine now. */
export const isServing = ({ state }: { readonly state: EngineState }): boolean =>
  state === 'up' || state === 'probation';

export interface FleetPorts {
  readonly emit: (event: Event) => void;
  readonly inFlight: (id: EngineId) => number;
  /** Runs `fn` once after `ms` milliseconds, unless the returned function is called before. */
  readonly setTimer: SetTimer;
  /** The clock, in milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

export type SetTimer = (fn: () => void, ms: number) => () => void;

/** The part of a pino logger that the fleet uses. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn', (fields: object, message: string) => void>>;
