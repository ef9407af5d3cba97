import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Event } from '../src/index.js';
import { BalancerInUse } from '../loadbalancer/index.js';
import { ActiveSet } from './calls/active.js';
import { watchPorts } from './admin/watch.js';
import { Auth } from './http/auth.js';
import { HeldBytes } from './bodies/held.js';
import { BodyReader } from './bodies/reader.js';
import { Observers, type Observer } from './calls/observers.js';
import type { Config } from './config/index.js';
import type { Context, Demo, Shadow } from './context.js';
import { Discovery, Membership } from './discovery/index.js';
import { Driver, type Recorder } from './driver.js';
import { Fleet } from './engines/index.js';
import { Identified } from './identity/identified.js';
import { Identifier } from './identity/index.js';
import { Returning } from './identity/returning.js';
import { SharedCache } from './identity/shared-cache.js';
import { CallLog, makeLog } from './log.js';
import { registerGauges } from './metrics/gauges.js';
import { Metrics } from './metrics/metrics.js';
import { Repeats } from './calls/repeats.js';
import { KnownPrograms } from './watch/known-programs.js';
import { Threads } from './watch/threads.js';
import { setTimer } from './timer.js';
import { TokenEstimator } from './bodies/tokens.js';
import { PastCalls } from './watch/past-calls.js';
import { readState } from './watch/reading.js';
import { Totals } from './watch/totals.js';
import { Watchers } from './watch/watchers.js';

export interface GatewayOptions {
  /** Absent: JSON lines on standard output, at `log.level` and above. */
  readonly log?: Logger;
  /** Receives every step until the gateway has closed. Its owner closes it. */
  readonly recorder?: Recorder | undefined;
  readonly demo?: Demo | undefined;
  /** Its owner closes it. */
  readonly shadow?: Shadow | undefined;
}

/** Creates the parts of a gateway and connects them. The fleet is still empty. */
export function assemble(config: Config, options: GatewayOptions): Context {
  const log = options.log ?? makeLog(config);
  const completions = { idle: () => driver.scheduler.views.idle(), now: () => driver.now() };
  const metrics = new Metrics({
    hasEngine: (id) => fleet.get(id) !== undefined,
    tenantsMax: () => context.config.limits.tenantSeriesMax,
    ...completions,
  });
  const observers = new Observers();
  const balancer = new BalancerInUse();
  // Every step may change state that other gateways need.
  const told = { step: () => context.cluster?.stepped(), configured: () => context.cluster?.stepped() };
  const driver = new Driver(config, balancer.for(config.balancer), {
    programGone: (gone) => observers.tell('programGone', gone, driver.now()),
    violated: logOnce((invariant) => log.error({ invariant }, 'invariant broken: a fault in maitred')),
    recorders: [options.recorder, options.shadow, config.cluster.url === null ? undefined : told].filter(
      (recorder) => recorder !== undefined,
    ),
  });
  const fleet = new Fleet(config, {
    emit: (event) => driver.emit(announced(context, event)),
    inFlight: (id) => driver.scheduler.views.engine(id)?.inFlight ?? 0,
    setTimer,
    now: () => driver.now(),
    log,
  });
  const membership = new Membership(fleet, () => driver.now(), log);
  const context: Context = {
    config,
    auth: new Auth(config),
    identifier: makeIdentifier(config, () => context),
    balancer,
    returning: new Returning(() => driver.now()),
    draining: false,
    driver,
    fleet,
    membership,
    discovery: new Discovery({ membership, setTimer, log }),
    tokens: new TokenEstimator(),
    metrics,
    log,
    responses: new SharedCache(config.limits.responsesMax),
    held: new HeldBytes(() => context.config),
    reader: new BodyReader(() => context.config, config.limits.beginningBytes),
    active: new ActiveSet(),
    threads: new Threads(),
    repeats: new Repeats(),
    identified: new Identified(),
    known: new KnownPrograms(),
    pastCalls: new PastCalls(config.limits.pastCalls),
    totals: new Totals({ ...completions, reading: () => readState(context) }),
    watchers: new Watchers(watchPorts(() => context)),
    demo: options.demo,
    shadow: options.shadow,
    observers,
    cluster: undefined,
    peers: undefined,
    batches: undefined,
    tracing: undefined,
  };
  observers.add(...observersOf(() => context));
  registerGauges(context);
  return context;
}

/** An event of the fleet as the scheduler gets it; the history marks it. */
function announced({ totals, cluster }: Context, event: Event): Event {
  totals.heard(event);
  return cluster?.announced(event) ?? event;
}

/** The parts that hear of calls and programs. The context is read late, because it holds these observers itself. */
function observersOf(context: () => Context): Observer[] {
  const { active, identified, known, log, metrics, pastCalls, repeats, responses, threads, tokens, totals } = context(); // prettier-ignore
  return [
    { accepted: (call) => active.add(call), ended: (call) => active.delete(call) },
    metrics,
    totals,
    pastCalls,
    known,
    new CallLog(log),
    threads,
    repeats,
    identified,
    {
      madeResponse: (id, { tenant, promptTokens }, engine, usage) => {
        const contextTokens = usage === undefined ? promptTokens : usage.promptTokens + usage.outputTokens;
        responses.set(tenant, id, { engine, contextTokens });
      },
    },
    {
      answered: ({ tenant, identity }, answer) => context().identifier.answered(identity, { tenant }, answer),
      programEnded: (program) => context().identifier.ended(program),
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

/** Logs each distinct message once; `maitred_invariant_violations_total` counts all of them. */
function logOnce(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    tell(message);
  };
}

/** @param context is read late, because it holds the identifier */
export function makeIdentifier({ identity, limits, cluster }: Config, context: () => Context): Identifier {
  return new Identifier({
    ...identity,
    conversationsMax: limits.conversationsMax,
    responsesMax: limits.responsesMax,
    newId: randomUUID,
    share:
      cluster.url === null ? undefined : (tenant, key, program) => context().cluster?.remember(tenant, key, program),
    activityOf: (program) => {
      const { driver, cluster } = context();
      // Of a program that another gateway runs, little is known here.
      const row = cluster?.owns(program) === false ? undefined : driver.scheduler.views.program(program);
      if (row === undefined) return undefined;
      return { activeCalls: row.activeCalls, idleMs: driver.now() - (row.lastCompletionAtMs ?? row.lastArrivalAtMs) };
    },
  });
}
