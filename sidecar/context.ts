import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { EngineId } from '../src/index.js';
import { BalancerInUse } from '../loadbalancer/index.js';
import type { Participant, RedisState } from '../cluster/index.js';
import type { ShadowAnswer } from './admin/answers.js';
import type { WatchedView } from './admin/query.js';
import type { BatchSeat } from './batches/seat.js';
import { HeldBytes } from './bodies/held.js';
import { BodyReader } from './bodies/reader.js';
import { TokenEstimator } from './bodies/tokens.js';
import { ActiveSet } from './calls/active.js';
import { Observers, type Observer } from './calls/observers.js';
import { Repeats } from './calls/repeats.js';
import type { Config } from './config/index.js';
import { Discovery } from './discovery/discovery.js';
import { Membership } from './discovery/membership.js';
import { Driver, type Recorder } from './driver.js';
import { Fleet } from './engines/index.js';
import { GatewayError } from './errors.js';
import { Auth } from './http/auth.js';
import { Identifier } from './identity/index.js';
import { Returning } from './identity/returning.js';
import { SharedCache } from './identity/memory.js';
import { CallLog, makeLog } from './log.js';
import { Completions } from './metrics/completions.js';
import { Metrics } from './metrics/metrics.js';
import { setTimer } from './timer.js';
import type { Tracing } from './tracing/tracing.js';
import { KnownPrograms } from './watch/known-programs.js';
import { PastCalls } from './watch/past-calls.js';
import type { Reading } from './watch/steps.js';
import { Totals } from './watch/totals.js';
import { Watchers, type WatchPorts } from './watch/watchers.js';

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

export type Peers = Pick<RedisState, 'gateway' | 'silent' | 'ask'>;

/** A response that later calls can continue. */
export interface HeldResponse {
  readonly engine: EngineId;
  /** Tokens of its prompt and its answer together; the estimate of its prompt until usage is known. */
  readonly contextTokens: number;
}

export interface GatewayOptions {
  /** Absent: JSON lines on standard output, at `log.level` and above. */
  readonly log?: Logger;
  /** Receives every step until the gateway has closed. Its owner closes it. */
  readonly recorder?: Recorder | undefined;
  readonly demo?: Demo | undefined;
  /** Its owner closes it. */
  readonly shadow?: Shadow | undefined;
}

/** The parts of a gateway, which its routes share. Only start, `reload`, `refuse` and `drain` write to it. The fleet begins empty. */
export class Context {
  auth: Auth;
  identifier: Identifier;
  draining = false;
  /** Why the last reload was refused; undefined: it was not. */
  reloadRefused: string | undefined;
  /** Keys of the last reload that take effect at the next start. */
  untilRestart: readonly string[] = [];
  cluster: Participant<RedisState> | undefined;
  peers: Peers | undefined;
  batches: BatchSeat | undefined;
  tracing: Tracing | undefined;
  readonly log: Logger;
  readonly demo: Demo | undefined;
  readonly shadow: Shadow | undefined;
  readonly balancer = new BalancerInUse();
  readonly driver: Driver;
  readonly fleet: Fleet;
  readonly membership: Membership;
  readonly discovery: Discovery;
  readonly reader: BodyReader;
  /** By their ids, which some engines let clients choose: two tenants may have the same. */
  readonly responses: SharedCache<HeldResponse>;
  readonly held = new HeldBytes(() => this.config);
  readonly tokens = new TokenEstimator();
  readonly returning = new Returning(() => this.driver.now());
  readonly active = new ActiveSet();
  readonly repeats = new Repeats();
  readonly known = new KnownPrograms();
  readonly pastCalls: PastCalls;
  readonly metrics: Metrics;
  readonly totals: Totals;
  readonly watchers: Watchers<WatchedView>;
  readonly observers = new Observers();

  /** @param readState and the next: views of the whole gateway, which depend on it */
  constructor(
    public config: Config,
    options: GatewayOptions,
    readState: (context: Context) => Reading,
    watchPorts: (context: () => Context) => WatchPorts<WatchedView>,
  ) {
    const { limits } = config;
    const log = (this.log = options.log ?? makeLog(config));
    this.auth = new Auth(config);
    this.identifier = makeIdentifier(config, this);
    this.demo = options.demo;
    this.shadow = options.shadow;
    this.reader = new BodyReader(() => this.config, limits.beginningBytes);
    this.responses = new SharedCache(limits.responsesMax);
    this.pastCalls = new PastCalls(limits.pastCalls);
    const now = () => this.driver.now();
    const completions = new Completions({ idle: () => this.driver.scheduler.views.idle(), known: this.known, now });
    this.metrics = new Metrics({
      hasEngine: (id) => this.fleet.get(id) !== undefined,
      tenantsMax: () => this.config.limits.tenantSeriesMax,
      completions,
    });
    this.totals = new Totals({
      completions,
      now,
      reading: () => readState(this),
      troubleOf: (id) => this.fleet.get(id)?.trouble?.reason,
    });
    this.watchers = new Watchers(watchPorts(() => this));
    // Logged once each; `maitred_invariant_violations_total` counts all of them.
    const violated = new Set<string>();
    // Every step may change state that other gateways need.
    const told = { step: () => this.cluster?.stepped(), configured: () => this.cluster?.stepped() };
    this.driver = new Driver(config, this.balancer.for(config.balancer), {
      programGone: (gone) => this.observers.tell('programGone', gone, now()),
      violated: (invariant) => {
        if (!violated.has(invariant)) log.error({ invariant }, 'invariant broken: a fault in maitred');
        violated.add(invariant);
      },
      recorders: [options.recorder, options.shadow, config.cluster.url === null ? undefined : told].filter(
        (recorder) => recorder !== undefined,
      ),
    });
    this.fleet = new Fleet(config, {
      emit: (event) => {
        this.totals.heard(event);
        this.driver.emit(this.cluster?.announced(event) ?? event);
      },
      inFlight: (id) => this.driver.scheduler.views.engine(id)?.inFlight ?? 0,
      setTimer,
      now,
      log,
    });
    this.membership = new Membership(this.fleet, now, log);
    this.discovery = new Discovery({ membership: this.membership, setTimer, log });
    // Before those that forget a program that has gone.
    this.observers.add(completions, ...observersOf(this));
  }

  /** @throws GatewayError `draining` */
  checkNotDraining(): void {
    if (this.draining) throw new GatewayError('draining', 'The gateway is shutting down.');
  }
}

/** The gateway as its routes and rows read it. */
export type Parts = Omit<Context, 'checkNotDraining'>;

/** The parts that hear of calls and programs. The context's identifier may be replaced. */
function observersOf(context: Context): Observer[] {
  const { active, known, log, metrics, pastCalls, repeats, responses, tokens, totals } = context;
  return [
    { accepted: (call) => active.add(call), ended: (call) => active.delete(call) },
    metrics,
    totals,
    pastCalls,
    known,
    new CallLog(log),
    repeats,
    {
      madeResponse: (id, { tenant, promptTokens }, engine, usage) => {
        const contextTokens = usage === undefined ? promptTokens : usage.promptTokens + usage.outputTokens;
        responses.set(tenant, id, { engine, contextTokens });
      },
    },
    {
      answered: ({ tenant, identity }, answer) => context.identifier.answered(identity, { tenant }, answer),
      programEnded: (program) => context.identifier.ended(program),
    },
    {
      answered: ({ facts }, _answer, usage) => {
        // The engine's prompt includes the earlier response, so it is longer than the request's text.
        if (usage === undefined || facts.previousResponseId !== undefined) return;
        tokens.learn(facts.model, facts.promptBytes, usage.promptTokens);
      },
    },
  ];
}

export function makeIdentifier({ identity, limits, cluster }: Config, context: Context): Identifier {
  return new Identifier({
    ...identity,
    conversationsMax: limits.conversationsMax,
    responsesMax: limits.responsesMax,
    newId: randomUUID,
    share:
      cluster.url === null
        ? undefined
        : (tenant, key, program) => context.cluster?.shared.remember(tenant, key, program),
    activityOf: (program) => {
      const { driver, cluster } = context;
      // Of a program that another gateway runs, little is known here.
      const row = cluster?.owns(program) === false ? undefined : driver.scheduler.views.program(program);
      if (row === undefined) return undefined;
      return { activeCalls: row.activeCalls, idleMs: driver.now() - (row.lastCompletionAtMs ?? row.lastArrivalAtMs) };
    },
  });
}
