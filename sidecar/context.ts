import type { Logger } from 'pino';
import type { BalancerInUse } from '../loadbalancer/index.js';
import type { EngineId } from '../src/index.js';
import type { Participant } from '../cluster/index.js';
import type { Peers } from './cluster/peers.js';
import type { BatchSeat } from './batches/seat.js';
import type { ActiveSet } from './calls/active.js';
import type { Auth } from './http/auth.js';
import type { HeldBytes } from './bodies/held.js';
import type { BodyReader } from './bodies/reader.js';
import type { Observers } from './calls/observers.js';
import type { Config } from './config/index.js';
import type { Discovery, Membership } from './discovery/index.js';
import type { Driver, Recorder } from './driver.js';
import type { Fleet } from './engines/index.js';
import { GatewayError } from './errors.js';
import type { Identified } from './identity/identified.js';
import type { Identifier } from './identity/index.js';
import type { Returning } from './identity/returning.js';
import type { SharedCache } from './identity/shared-cache.js';
import type { Metrics } from './metrics/metrics.js';
import type { Repeats } from './calls/repeats.js';
import type { KnownPrograms } from './watch/known-programs.js';
import type { Threads } from './watch/threads.js';
import type { Tracing } from './tracing/tracing.js';
import type { TokenEstimator } from './bodies/tokens.js';
import type { ShadowAnswer } from './admin/answers.js';
import type { WatchedView } from './admin/query.js';
import type { PastCalls } from './watch/past-calls.js';
import type { Totals } from './watch/totals.js';
import type { Watchers } from './watch/watchers.js';

/** Agent programs that an operator may send through the gateway, so that there is something to see. */
export interface Demo {
  /** Programs of the fleet under way that have ended, and all of them; undefined: none is under way. */
  readonly progress: { readonly ended: number; readonly total: number } | undefined;
  /** Does nothing while one runs. */
  start(): void;
}

/** Estimates the gain of the policy in force. It sees all steps of the scheduler. */
export interface Shadow extends Recorder {
  /** Undefined: none yet. */
  latest(): ShadowAnswer | undefined;
}

/** A response that later calls can continue. */
export interface HeldResponse {
  readonly engine: EngineId;
  /** Tokens of its prompt and its answer together; the estimate of its prompt until usage is known. */
  readonly contextTokens: number;
}

/** State that the routes share. Only start, `reload` and `drain` write to it. */
export interface Context {
  config: Config;
  auth: Auth;
  identifier: Identifier;
  readonly balancer: BalancerInUse;
  readonly returning: Returning;
  draining: boolean;
  readonly driver: Driver;
  readonly fleet: Fleet;
  readonly membership: Membership;
  readonly discovery: Discovery;
  readonly tokens: TokenEstimator;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** By their ids, which some engines let clients choose: two tenants may have the same. */
  readonly responses: SharedCache<HeldResponse>;
  readonly held: HeldBytes;
  readonly reader: BodyReader;
  readonly active: ActiveSet;
  readonly threads: Threads;
  readonly repeats: Repeats;
  readonly identified: Identified;
  readonly known: KnownPrograms;
  readonly pastCalls: PastCalls;
  readonly totals: Totals;
  readonly watchers: Watchers<WatchedView>;
  readonly demo: Demo | undefined;
  readonly shadow: Shadow | undefined;
  readonly observers: Observers;
  /** Undefined: off. */
  cluster: Participant | undefined;
  /** The other gateways of the cluster. */
  peers: Peers | undefined;
  /** Undefined: off. */
  batches: BatchSeat | undefined;
  /** Undefined: off. */
  tracing: Tracing | undefined;
}

/** Retry time for clients while the gateway drains: long enough for another gateway to replace it. */
const DRAIN_RETRY_SECONDS = 5;

/** @throws GatewayError `draining` */
export function checkNotDraining(context: Pick<Context, 'draining'>): void {
  if (!context.draining) return;
  throw new GatewayError('draining', 'The gateway is shutting down.', { retryAfterSeconds: DRAIN_RETRY_SECONDS });
}
