import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { BalancerInUse } from '../loadbalancer/index.js';
import type { EngineId, TenantId } from '../src/index.js';
import type { ActiveSet } from './active.js';
import type { Auth } from './auth.js';
import type { CallPorts } from './calls/ports.js';
import type { Config } from './config/schema.js';
import type { Driver } from './driver.js';
import type { Engine, Fleet } from './engines/index.js';
import { GatewayError } from './errors.js';
import type { Identifier } from './identity/index.js';
import type { Returning } from './identity/returning.js';
import type { Metrics } from './metrics/metrics.js';
import type { Threads } from './threads.js';
import type { TokenEstimator } from './tokens.js';

/** What the routes share. Only `reload` and `drain` write to it. */
export interface Context {
  config: Config;
  auth: Auth;
  identifier: Identifier;
  readonly balancer: BalancerInUse;
  readonly returning: Returning;
  /** Whether the balancer in use wants prefix hashes. */
  readsPrefix: boolean;
  draining: boolean;
  readonly driver: Driver;
  readonly fleet: Fleet;
  readonly tokens: TokenEstimator;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Responses that engines made; see `responseKey`. */
  readonly responses: LRUCache<string, HeldResponse>;
  readonly active: ActiveSet;
  readonly threads: Threads;
  readonly callPorts: CallPorts;
}

/** A response that can be gone on from. */
export interface HeldResponse {
  readonly engine: EngineId;
  /** Its prompt and its answer together; the estimate of its prompt until it is told. */
  readonly contextTokens: number;
}

export function responseKey(tenant: TenantId, id: string): string {
  return `${tenant} ${id}`;
}

/** Whether calls can go there now. */
export function isServing(engine: Engine): boolean {
  return engine.state === 'up' || engine.state === 'probation';
}

/** What a client is told to wait while the gateway drains: long enough for another to have taken its place. */
const DRAIN_RETRY_SECONDS = 5;

/** @throws GatewayError `draining` */
export function checkNotDraining(context: Context): void {
  if (!context.draining) return;
  throw new GatewayError('draining', 'The gateway is shutting down.', { retryAfterSeconds: DRAIN_RETRY_SECONDS });
}
