import type { Pool } from 'undici';
import type { EngineId, Event, ProgramId } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import type { EngineConfig } from '../config/index.js';
import type { EngineAdapter, LoadReport } from './adapter.js';

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
export const isServing = ({ state }: Engine): boolean => state === 'up' || state === 'probation';

/** One engine replica, as the gateway uses it. */
export interface Engine {
  readonly id: EngineId;
  readonly url: URL;
  /** Prefix of every request path: the path of the URL, '' for most. */
  readonly basePath: string;
  readonly config: EngineConfig;
  /** Adapter of a generic OpenAI-like server until the first healthy probe; out of service, the previous one. */
  readonly adapter: EngineAdapter;
  /**
   * Connections for calls; probes have their own. Its header and body timeouts are off; each request has its own
   * timers.
   */
  readonly pool: Pool;
  readonly state: EngineState;
  /** Whether its first probe has ended, well or not. */
  readonly probed: boolean;
  /** Why it is out of service, as far as probes or calls tell, and since when; undefined: it serves, or nothing is known. */
  readonly trouble: { readonly reason: string; readonly sinceMs: number; readonly isStuck?: true } | undefined;
  /** Milliseconds until its next probe; 0 while one runs. */
  readonly probeInMs: number;
  /** Times that it was ejected. */
  readonly ejections: number;
  /** Models that it serves: their ids, each with its entry in the engine's own /v1/models. */
  readonly models: ReadonlyMap<string, JsonObject>;
  /** The last load report; `{}` before the first. */
  readonly load: LoadReport;

  /** The engine generated an answer to a call of the program, or began to. */
  succeeded(program: ProgramId): void;
  /** The engine answered something else: a refusal of the request, or a passed-through request. Proves little. */
  responded(): void;
  /** No connection came about, which no request causes. Counts immediately. */
  unreached(): void;
  /** The engine failed a call: reset, 5xx, cut short, too slow, too large or unreadable. It is probed, not ejected. */
  misanswered(program: ProgramId): void;
  /** Another engine answered a call after this one had failed it. */
  outdone(program: ProgramId): void;
  /**
   * The engine reported "no room" (429, 503). @param seconds its `Retry-After`
   * @returns milliseconds for which the engine rests; undefined: the refusal concerns only this program
   */
  refused(program: ProgramId, status: number, seconds: number | undefined): number | undefined;
}

export interface FleetPorts {
  /** Receives events for the scheduler. */
  readonly emit: (event: Event) => void;
  /** Number of calls running on the engine. */
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
