import type { Pool } from 'undici';
import type { EngineId, Event } from '../../src/index.js';
import type { EngineConfig } from '../config/schema.js';
import type { EngineAdapter } from './adapter.js';

/** `joining`: not yet heard of. `up`. `probation`: half-open. `ejected`: probed with backoff. `draining`: takes nothing new. */
export type EngineState = 'joining' | 'up' | 'probation' | 'ejected' | 'draining';

/** One engine replica as the gateway talks to it. */
export interface Engine {
  readonly id: EngineId;
  readonly url: URL;
  readonly config: EngineConfig;
  readonly adapter: EngineAdapter;
  /** Connections to it. */
  readonly pool: Pool;
  readonly state: EngineState;
  /** Model ids it serves, and each one's entry of the engine's own /v1/models. */
  readonly models: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/**
 * The engine replicas: found, probed, scraped, ejected and brought back here and nowhere else.
 * What the scheduler must know of it goes out as events (`engineJoined`, `engineReported`, `engineLost`, `engineDrained`).
 */
export interface Fleet {
  get(id: EngineId): Engine | undefined;
  list(): readonly Engine[];
  /** Engines that serve `model` and are not removed. */
  serving(model: string): readonly Engine[];
  /** @throws GatewayError `engine_exists` */
  add(config: EngineConfig): Engine;
  /** Stops new calls to it. Running ones finish. False: unknown. */
  drain(id: EngineId): boolean;
  /** Drains it, and forgets it when its last call has ended. False: unknown. */
  remove(id: EngineId): boolean;
  /** Makes the set of configured engines equal to `engines` (SIGHUP): adds, drains and removes. */
  reconcile(engines: readonly EngineConfig[]): void;
  /** Outcome of a real call, for passive ejection. */
  succeeded(id: EngineId): void;
  failed(id: EngineId): void;
  /** Ends probes and closes connections. */
  close(): Promise<void>;
}

export interface FleetPorts {
  /** Takes the scheduler's events. */
  readonly emit: (event: Event) => void;
  /** Calls now running on the engine. */
  readonly inFlight: (id: EngineId) => number;
}
