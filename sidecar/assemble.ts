import type { ProgramGone } from '../src/index.js';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { BalancerInUse } from '../loadbalancer/index.js';
import { ActiveSet } from './active.js';
import { watchPorts } from './admin/watch.js';
import { Auth } from './auth.js';
import { HeldBytes } from './bodies/held.js';
import { BodyReader } from './bodies/reader.js';
import type { CallPorts } from './calls/ports.js';
import { Sessions } from './calls/sessions.js';
import { Warms } from './calls/warms.js';
import type { Config } from './config/schema.js';
import type { Context, Demo, Shadow } from './context.js';
import { Discovery, Membership } from './discovery/index.js';
import { Driver, type Recorder } from './driver.js';
import { createFleet } from './engines/index.js';
import { Identified } from './identified.js';
import { createIdentifier, type Identifier } from './identity/index.js';
import { Returning } from './identity/returning.js';
import { holderKey } from './identity/shared-keys.js';
import { logCall, makeLog } from './log.js';
import { registerGauges } from './metrics/gauges.js';
import { Metrics } from './metrics/metrics.js';
import { endProgram } from './programs.js';
import { Responses } from './responses.js';
import { Threads } from './threads.js';
import { setTimer } from './timer.js';
import { TokenEstimator } from './tokens.js';
import { PastCalls } from './watch/past-calls.js';
import { Totals } from './watch/totals.js';
import { Watchers } from './watch/watchers.js';
import { forecastHeader } from './workflows/forecast.js';
import { readWorkflows } from './workflows/files.js';
import { Workflows } from './workflows/registry.js';

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
  const metrics = new Metrics({
    hasEngine: (id) => fleet.get(id) !== undefined,
    tenantsMax: () => context.config.limits.tenantSeriesMax,
    idle: () => driver.scheduler.views.idle(),
    now: () => driver.now(),
  });
  const threads = new Threads();
  const totals = new Totals();
  const balancerInUse = new BalancerInUse();
  const balancer = balancerInUse.for(config.balancer);
  // Every step may change state that other gateways need.
  const told = { step: () => context.cluster?.stepped(), configured: () => context.cluster?.stepped() };
  const driver = new Driver(config, balancer, {
    programGone: (gone) => forgetProgram(context, gone),
    violated: logOnce((invariant) => log.error({ invariant }, 'invariant broken: a fault in maitred')),
    recorders: [options.recorder, options.shadow, config.cluster.url === null ? undefined : told].filter(
      (recorder) => recorder !== undefined,
    ),
    memory: { start: (command) => warms.start(command), cancel: (command) => warms.cancel(command) },
  });
  const fleet = createFleet(config, {
    emit: (event) => driver.emit(context.cluster?.announced(event) ?? event),
    inFlight: (id) => driver.scheduler.views.engine(id)?.inFlight ?? 0,
    setTimer,
    now: () => driver.now(),
    log,
  });
  const sessions = new Sessions(() => context.config.timeouts.leaseMs);
  const warms = makeWarms(config, sessions, () => context);
  const membership = new Membership(fleet, () => driver.now(), log);
  const context: Context = {
    config,
    auth: new Auth(config),
    identifier: makeIdentifier(config, () => context),
    balancer: balancerInUse,
    returning: new Returning(() => driver.now()),
    readsPrefix: balancer.readsPrefix,
    workflows: new Workflows(() => context.config.limits),
    draining: false,
    driver,
    fleet,
    membership,
    discovery: new Discovery({ membership, setTimer, log, env: process.env }),
    tokens: new TokenEstimator(),
    metrics,
    log,
    responses: new Responses(config.limits.responsesMax),
    held: new HeldBytes(() => context.config),
    reader: new BodyReader(() => context.config),
    active: new ActiveSet(),
    sessions,
    warms,
    threads,
    identified: new Identified(),
    pastCalls: new PastCalls(config.limits.pastCalls),
    totals,
    watchers: new Watchers(watchPorts(() => context)),
    demo: options.demo,
    shadow: options.shadow,
    callPorts: { ...portsOf(() => context), driver, fleet, sessions },
    cluster: undefined,
    kvEvents: undefined,
    tracing: undefined,
  };
  context.workflows.configure(readWorkflows(config));
  registerGauges(context);
  return context;
}

/** The program's row has left the scheduler's table. */
function forgetProgram(
  { cluster, driver, metrics, sessions, threads, totals, tracing, warms }: Context,
  gone: ProgramGone,
): void {
  metrics.programGone(gone);
  totals.programGone(gone, driver.now());
  threads.gone(gone.program);
  warms.prompts.forget(gone.program);
  if (gone.cause === 'ended' || cluster?.owns(gone.program) !== false) sessions.close(gone.program);
  else sessions.forget(gone.program);
  cluster?.gone(gone.program);
  // An ended program was reported when it ended, because its id may be in use again by now.
  if (gone.cause !== 'ended') tracing?.programOver(gone.program, gone.cause);
}

/** The context is read late, because it holds these warms itself. */
function makeWarms({ limits }: Config, sessions: Sessions, context: () => Context): Warms {
  return new Warms({
    config: () => context().config,
    fleet: { get: (id) => context().fleet.get(id) },
    sessions,
    bytesMax: limits.warmBytes,
    now: () => context().driver.now(),
    emit: (event) => context().driver.emit(event),
  });
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
  return createIdentifier({
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

/** The gateway's reactions to its calls. The context is read late, because it holds these ports itself. */
function portsOf(context: () => Context): Omit<CallPorts, 'driver' | 'fleet' | 'sessions'> {
  return {
    config: () => context().config,
    refused: (spec, code) => {
      spec.held.release();
      const { driver, metrics, pastCalls, tracing } = context();
      metrics.rejected(code, spec.tenant);
      pastCalls.refused(spec, code, driver.now());
      tracing?.refused(spec, code, driver.scheduler.views.program(spec.identity.program) !== undefined);
      context().log.info({ request_id: spec.requestId, call: spec.id, tenant: spec.tenant, code }, 'refused');
    },
    accepted: (call) => {
      const { program, thread, source } = call.spec.identity;
      context().threads.accepted(program, thread);
      context().identified.note(source);
      context().metrics.accepted(call.spec.tenant);
      context().active.add(call);
    },
    dispatched: (spec, dispatch, retry) => {
      spec.trace?.dispatched(dispatch);
      context().metrics.dispatched(dispatch, retry);
      context().cluster?.placed(spec.identity.program);
    },
    engineFailed: (spec, engine, cause) => {
      spec.trace?.sentBack(engine, cause);
      context().metrics.engineFailed(engine, cause);
    },
    commented: () => context().metrics.commented(),
    forecast: ({ declared, identity }) => {
      const { config, driver } = context();
      const isOff = config.policy.foresight === 'none';
      if (isOff && declared === undefined) return undefined;
      return forecastHeader(isOff ? 'off' : driver.scheduler.views.forecast(identity.program), declared);
    },
    mayReturn: ({ tenant, fingerprint, identity }) => {
      const { returning, config } = context();
      returning.expect(tenant, fingerprint, identity, config.timeouts.ghostMs);
    },
    madeResponse: (id, { tenant, promptTokens }, engine, usage) => {
      const contextTokens = usage === undefined ? promptTokens : usage.promptTokens + usage.outputTokens;
      context().responses.hold(tenant, id, { engine, contextTokens });
      context().cluster?.remember(tenant, holderKey(id), engine);
    },
    answered: (spec, answer, usage) => {
      const { tenant, identity, facts } = spec;
      const { config, identifier, tokens, warms } = context();
      identifier.answered(identity, { tenant }, answer);
      if (config.policy.prefetch === 'on' && spec.api.oneToken !== undefined) warms.prompts.keep(spec);
      // The engine's prompt includes the earlier response, so it is longer than the request's text.
      if (usage === undefined || facts.previousResponseId !== undefined) return;
      tokens.learn(facts.model, facts.promptBytes, usage.promptTokens);
    },
    ended: (call, report) => {
      const { active, cluster, driver, log, metrics, pastCalls, totals, tracing } = context();
      const now = driver.now();
      active.delete(call);
      call.spec.held.release();
      metrics.ended(call.spec.tenant, report);
      totals.callEnded(report, now);
      pastCalls.ended(call.spec, report, now);
      logCall(log, call.spec, report);
      tracing?.ended(call.spec, report);
      cluster?.ran(call.spec.identity.program);
      if (call.spec.identity.final) endProgram(context(), call.spec.identity.program);
    },
  };
}
