import type { EngineId, Event } from '../../src/index.js';

/**
 * States of an engine.
 *
 *     starting --healthy--> up <-- a first byte, or --- probation <--healthy-- down
 *                           |     the next good probe       |                   ^
 *                           +----- failuresMax in a row ----+---- one failure --+
 *
 * `starting`: not yet healthy. `up`. `probation`: half-open, one call at a time. `down`: probed with a backoff if it
 * fails again and again. `draining`, from any state: takes no new calls, and is not probed.
 */
export type EngineState = Exclude<ToldState, 'drained'>;

/** As people and metrics are told: docs/INSPECT.md says when each applies. */
export const TOLD_STATES = ['starting', 'up', 'probation', 'down', 'draining', 'drained'] as const;
export type ToldState = (typeof TOLD_STATES)[number];

/** Whether calls can go to the engine now. */
export const isServing = ({ state }: { readonly state: ToldState }): boolean => state === 'up' || state === 'probation';

export interface FleetPorts {
  readonly emit: (event: Event) => void;
  readonly inFlight: (id: EngineId) => number;
  /** Runs `fn` once after `ms` milliseconds, unless the returned function is called before. */
  readonly setTimer: SetTimer;
  readonly now: () => number;
  readonly log: Log;
}

export type SetTimer = (fn: () => void, ms: number) => () => void;

/** The part of a pino logger that the fleet uses. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn', (fields: object, message: string) => void>>;
