import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { BalancerInUse } from '../loadbalancer/index.js';
import { ActiveSet } from './active.js';
import { Auth } from './auth.js';
import { HeldBytes } from './bodies/held.js';
import { BodyReader } from './bodies/reader.js';
import type { CallPorts } from './calls/ports.js';
import type { Config } from './config/schema.js';
import type { Context } from './context.js';
import { Discovery, Membership } from './discovery/index.js';
import { Driver, type Recorder } from './driver.js';
import { createFleet, type SetTimer } from './engines/index.js';
import { createIdentifier, type Identifier } from './identity/index.js';
import { Returning } from './identity/returning.js';
import { logCall, makeLog } from './log.js';
import { registerGauges } from './metrics/gauges.js';
import { Metrics } from './metrics/metrics.js';
import { endProgram } from './programs.js';
import { Responses } from './responses.js';
import { Threads } from './threads.js';
import { TokenEstimator } from './tokens.js';

export interface GatewayOptions {
  /** Absent: JSON lines on standard output, at `log.level` and above. */
  readonly log?: Logger;
  /** Receives every step until the gateway has closed. Its owner closes it. */
  readonly recorder?: Recorder | undefined;
}

/** Creates the parts of a gateway and connects them. The fleet is still empty. */
export function assemble(config: Config, options: GatewayOptions): Context {
  const log = options.log ?? makeLog(config);
  const metrics = new Metrics();
  const threads = new Threads();
  const balancerInUse = new BalancerInUse();
  const balancer = balancerInUse.for(config.balancer);
  const driver = new Driver(config, balancer, {
    programGone: (gone) => {
      metrics.programGone(gone);
      threads.gone(gone.program);
    },
    violated: logOnce((invariant) => log.error({ invariant }, 'invariant broken: a fault in maitred')),
    recorder: options.recorder,
  });
  const fleet = createFleet(config, {
    emit: (event) => driver.emit(event),
    inFlight: (id) => driver.scheduler.views.engine(id)?.inFlight ?? 0,
    setTimer,
    now: () => driver.now(),
    log,
  });
  const membership = new Membership(fleet, () => driver.now(), log);
  const context: Context = {
    config,
    auth: new Auth(config),
    identifier: makeIdentifier(config, driver),
    balancer: balancerInUse,
    returning: new Returning(),
    readsPrefix: balancer.readsPrefix,
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
    threads,
    callPorts: { ...portsOf(() => context), driver, fleet },
  };
  registerGauges(context);
  return context;
}

const setTimer: SetTimer = (fn, ms) => {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
};

/** Logs each distinct message once; `maitred_invariant_violations_total` counts all of them. */
function logOnce(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    tell(message);
  };
}

export function makeIdentifier({ identity, limits }: Config, driver: Driver): Identifier {
  return createIdentifier({
    ...identity,
    conversationsMax: limits.conversationsMax,
    responsesMax: limits.responsesMax,
    newId: randomUUID,
    activityOf: (program) => {
      const row = driver.scheduler.views.program(program);
      if (row === undefined) return undefined;
      return { activeCalls: row.activeCalls, idleMs: driver.now() - (row.lastCompletionAtMs ?? row.lastArrivalAtMs) };
    },
  });
}

/** The gateway's reactions to its calls. The context is read late, because it holds these ports itself. */
function portsOf(context: () => Context): Omit<CallPorts, 'driver' | 'fleet'> {
  return {
    config: () => context().config,
    refused: (spec, code) => {
      spec.held.release();
      context().metrics.rejected(code);
      context().log.info({ request_id: spec.requestId, call: spec.id, tenant: spec.tenant, code }, 'refused');
    },
    accepted: (call) => {
      const { program, thread } = call.spec.identity;
      context().threads.accepted(program, thread);
      context().metrics.accepted();
      context().active.add(call);
    },
    dispatched: (dispatch, retry) => context().metrics.dispatched(dispatch, retry),
    commented: () => context().metrics.commented(),
    mayReturn: ({ tenant, fingerprint, identity }) => {
      const { returning, config } = context();
      returning.expect(tenant, fingerprint, identity, config.timeouts.ghostMs);
    },
    madeResponse: (id, { tenant, promptTokens }, engine, usage) => {
      const contextTokens = usage === undefined ? promptTokens : usage.promptTokens + usage.outputTokens;
      context().responses.hold(tenant, id, { engine, contextTokens });
    },
    answered: ({ tenant, identity, facts }, answer, usage) => {
      const { identifier, tokens } = context();
      identifier.answered(identity, { tenant }, answer);
      // The engine's prompt includes the earlier response, so it is longer than the request's text.
      if (usage === undefined || facts.previousResponseId !== undefined) return;
      tokens.learn(facts.model, facts.promptBytes, usage.promptTokens);
    },
    ended: (call, report) => {
      const { active, log, metrics } = context();
      active.delete(call);
      call.spec.held.release();
      metrics.ended(report);
      logCall(log, call.spec, report);
      if (call.spec.identity.final) endProgram(context(), call.spec.identity.program);
    },
  };
}
