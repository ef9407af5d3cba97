import type { Pool } from 'undici';
import type { EngineId, Event, ProgramId } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import type { EngineConfig } from '../config/schema.js';
import type { EngineAdapter, LoadReport } from './adapter.js';

/**
 * The life of an engine.
 *
 *     joining --healthy--> up <-- a first byte, or --- probation <--healthy-- ejected
 *                          |     the next good probe       |                     ^
 *                          +----- failuresMax in a row ----+------ one failure --+
 *
 * `joining`: not yet healthy; probed with backoff. `up`. `probation`: half-open, one call at a time. `ejected`: probed
 * with backoff. `draining`, from any of them: takes nothing new, and is not probed.
 */
export type EngineState = 'joining' | 'up' | 'probation' | 'ejected' | 'draining';

/** One engine replica as the gateway talks to it. */
export interface Engine {
  readonly id: EngineId;
  readonly url: URL;
  /** What every request path is put behind: the path of the URL, '' for most. */
  readonly basePath: string;
  readonly config: EngineConfig;
  /** Before the first healthy probe that of any OpenAI-like server; out of service what it was before. */
  readonly adapter: EngineAdapter;
  /** Connections for calls; probes have their own. Its header and body timeouts are off: set them with each request. */
  readonly pool: Pool;
  readonly state: EngineState;
  /** Model ids it serves, and each one's entry of the engine's own /v1/models. */
  readonly models: ReadonlyMap<string, JsonObject>;
  /** The last load report; `{}` before the first. */
  readonly load: LoadReport;
}

/**
 * The engine replicas: found, probed, scraped, ejected and brought back here and nowhere else.
 * What the scheduler must know of it goes out as events (`engineJoined`, `engineReported`, `engineLost`, `engineDrained`).
 */
export interface Fleet {
  get(id: EngineId): Engine | undefined;
  list(): readonly Engine[];
  /** Engines that serve `model`, in whatever state, and are not being removed. */
  serving(model: string): readonly Engine[];
  /**
   * Takes in an engine, or takes a draining one of this id back into service.
   * @throws GatewayError `engine_exists` when one of this id is in service, `bad_request` for credentials in the URL.
   */
  add(config: EngineConfig): Engine;
  /** Stops new calls to it. Running ones finish. False: unknown. */
  drain(id: EngineId): boolean;
  /** Drains it, and forgets it when its last call has ended. False: unknown. */
  remove(id: EngineId): boolean;
  /**
   * Makes the set of engines equal to `engines` (SIGHUP): adds, replaces and removes; running calls finish where they are.
   * An engine that an operator drains stays drained.
   * @throws GatewayError as `add`; then nothing has changed.
   */
  reconcile(engines: readonly EngineConfig[]): void;
  /** A call of the program was answered there, or began to be. */
  succeeded(id: EngineId, program: ProgramId): void;
  /** A call failed there whatever it asked for: no connection, reset before the headers, timed out. Counts at once. */
  failed(id: EngineId): void;
  /** An answer failed its call: 5xx, cut short, too large, not to be read. The engine is asked how it is, not ejected. */
  misanswered(id: EngineId, program: ProgramId): void;
  /** Another engine has answered a call that an answer of this one failed. */
  outdone(id: EngineId, program: ProgramId): void;
  /**
   * The engine said "no room" (429, 503). @param seconds its `Retry-After`
   * @returns milliseconds for which it rests; undefined: only this program is meant
   */
  refused(id: EngineId, program: ProgramId, status: number, seconds: number | undefined): number | undefined;
  /** Milliseconds until an engine for the model that is out of service is back, if it is well; Infinity: none is out. */
  backInMs(model: string): number;
  /** Ends probes and closes connections; calls that still run fail. */
  close(): Promise<void>;
}

export interface FleetPorts {
  /** Takes the scheduler's events. */
  readonly emit: (event: Event) => void;
  /** Calls now running on the engine. */
  readonly inFlight: (id: EngineId) => number;
  /** Runs `fn` once after `ms` milliseconds, unless the function it returns is called before. */
  readonly setTimer: SetTimer;
  /** The clock, in milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

export type SetTimer = (fn: () => void, ms: number) => () => void;

/** The part of a pino logger that is used here. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn', (fields: object, message: string) => void>>;
