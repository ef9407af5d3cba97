import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Event, ProgramId } from '../src/index.js';
import { adminRoutes, probeRoutes } from './admin/admin.js';
import { answerPeer } from './admin/peers.js';
import { programRoutes } from './admin/program-routes.js';
import { watchPorts } from './admin/watch.js';
import { SCHEDULED } from './apis/index.js';
import { openBatches } from './batches/open.js';
import { Auth } from './http/auth.js';
import { labelOf, type Config } from './config/index.js';
import { Context, makeIdentifier, type GatewayOptions } from './context.js';
import { GatewayError } from './errors.js';
import { holderKey } from './identity/shared-keys.js';
import { fieldsOf, requestIdOf } from './http/headers.js';
import { listen, type Listener, type Routes } from './http/listener.js';
import { splitTarget } from './http/target.js';
import { tellFailure } from './log.js';
import { registerGauges } from './metrics/gauges.js';
import { clientRoutes } from './routes.js';
import type { Tracing } from './tracing/tracing.js';
import { readState } from './watch/reading.js';

/**
 * Starts a gateway. It listens immediately, so that a taken port fails at once and health probes are answered. It
 * resolves after one probe of each engine. Earlier calls wait for that, so that the first finds the healthy engines.
 * @throws Error if an address cannot be listened on; GatewayError for conflicting engines
 */
export async function startGateway(config: Config, options: GatewayOptions = {}): Promise<Gateway> {
  const context = new Context(config, options, readState, watchPorts);
  registerGauges(context);
  const listeners: Listener[] = [];
  try {
    context.tracing = await startTracing(context);
    Object.assign(context, await joinCluster(context));
    context.batches = await openBatches(context);
    const { listen: main, admin } = config;
    context.totals.start();
    findEngines(context, config);
    const shared = admin.port === null;
    const asked = enginesAsked(context);
    const own = adminRoutes(context);
    const routes = { ...clientRoutes(context, asked), ...probeRoutes(context), ...programRoutes(context, shared) };
    const heard: Parameters<typeof listen>[3] = (...asked) => refused(context, ...asked);
    listeners.push(await listen(config, main, { ...(shared ? own : elsewhere(own)), ...routes }, heard));
    if (admin.port !== null)
      listeners.push(
        await listen(
          config,
          { host: admin.host, port: admin.port },
          { ...own, ...programRoutes(context, true) },
          heard,
        ),
      );
    await asked;
    await context.batches?.start();
  } catch (error) {
    await closeAll(context, listeners, 0);
    throw error;
  }
  return new Gateway(context, listeners);
}

/** The paths where a listener for clients says who serves them. */
function elsewhere(paths: Routes): Routes {
  const refuse = () => {
    throw new GatewayError('unknown_path', 'This path is for operators: ask the listener of admin.port.');
  };
  return Object.fromEntries(Object.keys(paths).map((path) => [path, { ALL: refuse }]));
}

/** Time for the last spans to reach their collector: the rest of the drain, within these bounds. */
const FLUSH_MS_MIN = 1000;
const FLUSH_MS_MAX = 5000;

export class Gateway {
  readonly url: string;
  /** URL of the admin paths: on the main listener, or on a separate one. */
  readonly adminUrl: string;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly context: Context,
    private readonly listeners: readonly Listener[],
  ) {
    this.url = listeners[0]?.url ?? '';
    this.adminUrl = listeners.at(-1)?.url ?? '';
    context.log.info(
      { url: this.url, base_url: `${this.url}/v1`, admin_url: this.adminUrl, page: `${this.adminUrl}/ui` },
      'listening',
    );
  }

  /** Applies a new configuration without losing a call. @param untilRestart keys that keep their old values */
  reload(config: Config, untilRestart: readonly string[] = []): void {
    const { context } = this;
    findEngines(context, config);
    if (memoryOf(config) !== memoryOf(context.config)) context.identifier = makeIdentifier(config, context);
    context.driver.configure(config, context.balancer.for(config.balancer));
    // The new keys and token must admit every watcher.
    const { admin, auth } = context.config;
    if (!isDeepStrictEqual([config.admin, config.auth], [admin, auth])) context.watchers.close();
    context.auth = new Auth(config);
    context.config = config;
    context.reloadRefused = undefined;
    context.untilRestart = untilRestart;
    context.log.level = config.log.level;
    for (const listener of this.listeners) listener.configure(config);
    // Removed engines stay until the new ones have joined, so that waiting calls always have an engine.
    void enginesAsked(context).then(() => {
      if (context.config === config && !context.draining) context.membership.settle();
    });
    context.totals.mark('configuration reloaded');
    context.log.info('configuration reloaded');
    if (untilRestart.length > 0) context.log.warn({ keys: untilRestart }, 'these keys take effect at the next start');
  }

  /** Tells of a reload that could not be; the settings before it stay. @param fields of the log line */
  refuseReload(reason: string, fields: object): void {
    this.context.reloadRefused = reason;
    this.context.log.error(fields, 'reload refused');
  }

  /** Refuses new calls, lets running ones finish for at most `timeouts.drainMs`, then closes. @param tell receives their number */
  drain(tell?: (calls: number, ms: number) => void): Promise<void> {
    return (this.#draining ??= this.#drain(tell));
  }

  /** Ends all calls immediately, and closes. */
  close(flushMs = FLUSH_MS_MIN): Promise<void> {
    return (this.#closing ??= this.#close(flushMs));
  }

  async #close(flushMs: number): Promise<void> {
    await closeAll(this.context, this.listeners, flushMs);
    this.context.log.info('closed');
    await flushed(this.context.log);
  }

  async #drain(tell?: (calls: number, ms: number) => void): Promise<void> {
    const { active, config, log } = this.context;
    this.context.draining = true;
    // A failure there is told when it closes.
    this.context.batches?.leave().catch(() => undefined);
    const { drainMs } = config.timeouts;
    log.info({ active: active.size, drain_ms: drainMs }, 'draining');
    tell?.(active.size, drainMs);
    const endsAt = performance.now() + drainMs;
    await active.emptied(drainMs);
    await this.close(Math.max(FLUSH_MS_MIN, Math.min(FLUSH_MS_MAX, endsAt - performance.now())));
  }
}

/** Adds new engines immediately, and starts new sources of engines. */
function findEngines({ fleet, membership, discovery }: Context, { engines, discovery: sources }: Config): void {
  fleet.expectModels(sources.flatMap(({ models = [] }) => models));
  membership.configure(engines, sources.map(labelOf));
  discovery.configure(sources);
}

/** Settings that determine the identifier's memory; while they are equal, the memory is kept. */
const memoryOf = ({ identity, limits }: Config): string =>
  JSON.stringify([identity, limits.conversationsMax, limits.responsesMax]);

/** Interval of the checks whether engines have been found and have answered their first probe. */
const ASKED_MS = 5;

/** Waits until all sources have looked and all engines joined: for one probe's time, and first probes in any case. */
async function enginesAsked({ config, discovery, fleet, driver }: Context): Promise<void> {
  const until = driver.now() + config.health.timeoutMs;
  const isAny = (of: 'state' | 'told') => fleet.list().some((engine) => engine[of] === 'starting');
  const isAsking = () => !discovery.hasLooked || isAny('state');
  while (driver.now() < until ? isAsking() : isAny('told')) await sleep(ASKED_MS);
}

/** Tells of a request that was refused before it became a call. @param cause present if the fault is ours */
function refused(context: Context, error: GatewayError, request?: IncomingMessage, err?: unknown): void {
  const { auth, driver, identifier, log, metrics, pastCalls, totals } = context;
  const { code } = error;
  // Other requests do not count where they succeed either.
  const isCall = request?.method === 'POST' && SCHEDULED.has(splitTarget(request.url ?? '').path);
  // Of those that the gateway lets in: strangers must not displace what is remembered for `why`.
  const tenant = isCall ? auth.tenantIfAny(request) : undefined;
  if (isCall) metrics.rejected(code, tenant);
  if (isCall && code !== 'client_gone') {
    const program = tenant && identifier.claimed(tenant, request.headers);
    totals.refused({ identity: { program } }, code, driver.now());
    if (program !== undefined) pastCalls.turnedAway(program, requestIdOf(request), error, driver.now());
  }
  const fields = request && fieldsOf(request);
  if (err === undefined) tellFailure(log, { ...fields }, error);
  else log.error({ ...fields, code, err }, 'request failed');
}

/** Loads the shared state only if it is on. */
async function joinCluster(context: Context): Promise<Partial<Pick<Context, 'cluster' | 'peers'>>> {
  const { config, driver, known, log, observers } = context;
  const { url } = config.cluster;
  if (url === null) return {};
  const { openCluster } = await import('./cluster/open.js');
  const { views } = driver.scheduler;
  const emit = (event: Event): void => {
    if (event.type === 'programMoved') known.moved(event.program);
    driver.emit(event);
  };
  const answer = (question: string): Promise<string> => answerPeer(context, question);
  const cluster = await openCluster(config, url, { emit, views, log, answer });
  observers.add({
    dispatched: ({ identity }) => cluster.placed(identity.program),
    madeResponse: (id, { tenant }, engine) => cluster.shared.remember(tenant, holderKey(id), engine),
    ended: ({ spec }) => cluster.ran(spec.identity.program),
    programEnded: (program) => cluster.ended(program),
    programGone: ({ program }) => cluster.gone(program),
  });
  return { cluster, peers: cluster.shared };
}

/** Loads OpenTelemetry only if tracing is on. */
async function startTracing({ config, driver, fleet, metrics, log, observers }: Context): Promise<Tracing | undefined> {
  const { url, sampleShare } = config.tracing.otlp;
  if (url === null) return undefined;
  const { Tracing } = await import('./tracing/tracing.js');
  const hasProgram = (program: ProgramId) => driver.scheduler.views.program(program) !== undefined;
  const { programsMax } = config.limits;
  const tracing = new Tracing({ url, sampleShare, programsMax, fleet, hasProgram, metrics, log });
  observers.add(tracing);
  return tracing;
}

/**
 * Ends work in progress, then closes: clients first, so that they are informed; engines and clock last.
 * @param flushMs most milliseconds for spans to reach their collector
 */
async function closeAll(context: Context, listeners: readonly Listener[], flushMs: number): Promise<void> {
  context.draining = true;
  context.active.drainAway();
  await context.batches?.close();
  context.watchers.close();
  context.totals.close();
  await Promise.all(listeners.map((listener) => listener.close()));
  await context.reader.close();
  context.discovery.close();
  const { cluster, fleet, tracing } = context;
  await Promise.all([fleet.close(), cluster?.close(), tracing?.close(flushMs)]);
  context.driver.close();
  await flushed(context.log);
}

const flushed = (log: Context['log']): Promise<void> => new Promise((resolve) => log.flush(() => resolve()));
