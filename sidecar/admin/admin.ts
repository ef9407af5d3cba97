import type { IncomingMessage, ServerResponse } from 'node:http';
import { engineId, programId, type EngineId } from '../../src/index.js';
import { checkValue, configSchema, pathText, redact, type EngineConfig } from '../config/index.js';
import type { Parts } from '../context.js';
import { addressOf, idOf } from '../engines/address.js';
import { LOOK_MS, examine } from '../engines/examine.js';
import { NotAnEngine, isServing, type Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { send, sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import { sentenceOf } from '../http/checked.js';
import type { Handler, Handlers, Params, Routes } from '../http/listener.js';
import { VERSION } from '../version.js';
import type { Range } from '../watch/totals.js';
import { pageRoutes } from './page.js';
import { count } from './figures.js';
import { ofOthers, stateOfAll, wherever, wholeEnded } from './peers.js';
import { logChange } from './program-routes.js';
import { selectPrograms } from './programs.js';
import { queryOf, readProgramQuery, tenantIn, readRange, readView } from './query.js';
import { engineRow, engineRows, gatewayRow, historyRow, totalsRow } from './state-rows.js';
import { callsOf, wholeCalls, wholeExplanation, wholePage } from './watch.js';

/** Paths for operators. All but the two probes check authorization first. */
export function adminRoutes(context: Parts): Routes {
  const guarded =
    (handler: Handler): Handler =>
    async (request, response, params) => {
      context.auth.checkAdmin(request.headers);
      await handler(request, response, params);
      if (/POST|DELETE/.test(request.method ?? '') && response.headersSent) logChange(context, request);
    };
  const answer = (read: (request: IncomingMessage, params: Params) => unknown, status = 200) =>
    guarded(async (request, response, params) => sendJson(response, status, 'admin', await read(request, params)));
  const ofEngine = (change: (engine: Engine, request: IncomingMessage) => void) =>
    answer(async (request, params) => {
      const engine = findEngine(context, params);
      change(engine, request);
      return engineRow(context, engine, await totalsOf(context));
    });
  const routes: Record<string, Handlers> = {
    '/programs': { GET: answer((request) => listPrograms(context, request)) },
    '/ended': { GET: answer(() => wholeEnded(context)) },
    '/programs/:id': {
      GET: answer((request, { id = '' }) => wherever(context, 'program', id, tenantIn(request))),
    },
    '/programs/:id/explain': {
      GET: answer((request, { id = '' }) => wholeExplanation(context, id, tenantIn(request))),
    },
    '/programs/:id/calls': { GET: answer((request, params) => listCalls(context, request, params)) },
    '/engines': {
      GET: answer(async () => engineRows(context, await totalsOf(context))),
      POST: guarded((request, response) => addEngine(context, request, response)),
    },
    '/engines/:id': {
      GET: ofEngine(() => undefined),
      DELETE: answer((request, params) => removeEngine(context, request, params)),
    },
    '/engines/:id/drain': { POST: ofEngine((engine, request) => drain(context, engine, request)) },
    '/engines/:id/undrain': { POST: ofEngine(({ id }) => undrain(context, id)) },
    '/version': { GET: answer(() => ({ version: VERSION })) },
    '/queue': { GET: answer(async () => (await stateOfAll(context)).queue) },
    '/totals': { GET: answer(async () => totalsRow(await totalsOf(context), context)) },
    '/history': { GET: answer((request) => listHistory(context, request)) },
    '/gateway': {
      GET: answer(async () => gatewayRow(context, ...(await Promise.all([stateOfAll(context), totalsOf(context)])))),
    },
    '/stream': {
      GET: guarded((request, response) => context.watchers.add(request, response, readView(queryOf(request)))),
    },
    '/demo': { POST: answer(() => startDemo(context), 202) },
    '/config': { GET: answer(() => redact(context.config)) },
    '/metrics': {
      GET: guarded(async (_, response) => {
        const { registry } = context.metrics;
        const text = Buffer.from(await registry.metrics());
        send(response, 200, 'admin', text, { 'content-type': registry.contentType });
      }),
    },
  };
  return { ...routes, ...pageRoutes(), ...probeRoutes(context) };
}

/** Open to everyone on every listener: the probes reveal only that the gateway is alive, and whether it is ready. */
export function probeRoutes(context: Parts): Routes {
  const alive: Handlers = { GET: (_, response) => sendJson(response, 200, 'alive', { status: 'ok' }) };
  return {
    '/healthz': alive,
    // The path of the engines' own probes.
    '/health': alive,
    '/readyz': { GET: (_, response) => showReady(context, response) },
  };
}

async function listPrograms(context: Parts, request: IncomingMessage) {
  const query = readProgramQuery(queryOf(request));
  return (await wholePage(context, await selectPrograms(context, query), query))();
}

const totalsOf = async (context: Parts, range: Range = '5m') =>
  context.totals.read(context.driver.now(), range, await ofOthers(context, 'steps', range));

async function listHistory(context: Parts, request: IncomingMessage) {
  const range = readRange(queryOf(request));
  return historyRow(await totalsOf(context, range), range);
}

/** Also of a program that has left the table. */
async function listCalls(context: Parts, request: IncomingMessage, { id = '' }: Params) {
  const known = await wholeCalls(context, programId(id));
  if (known.calls.length > 0) return known;
  return callsOf(context, id, await wholeExplanation(context, id, tenantIn(request)));
}

function startDemo({ demo }: Parts) {
  if (demo === undefined) throw new GatewayError('unknown_path', 'Only a gateway with embedded engines has a demo.');
  demo.start();
  return { demo: 'running' };
}

function findEngine(context: Parts, params: Params) {
  const engine = context.fleet.get(engineId(params['id'] ?? ''));
  if (engine !== undefined) return engine;
  const known = context.fleet.list().map(({ id }) => id);
  throw new GatewayError(
    'unknown_engine',
    `No such engine. There ${known.length === 1 ? 'is' : 'are'}: ${known.slice(0, 10).join(', ') || 'none'}.`,
  );
}

async function addEngine(context: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readJsonBody(request, response, context.config.timeouts.bodyMs);
  const engine = readEngine(body);
  if (!response.destroyed) await checkEngine(context, engine, response);
  // Of a client that has gone, nobody would know that it was added. A response that broken input cut short never closes.
  if (request.socket.destroyed) return;
  const { driver, membership, totals } = context;
  sendJson(response, 201, 'admin', engineRow(context, membership.add(engine), totals.read(driver.now())));
}

/** Time of all requests of such a look. */
const LOOKS_MS = 3 * LOOK_MS;

/** Refuses an address that would stay down for ever; an engine that does not answer may be starting. */
async function checkEngine({ config, fleet }: Parts, engine: EngineConfig, response: ServerResponse): Promise<void> {
  if (fleet.get(idOf(engine))?.url.href === addressOf(engine).url.href) return;
  const { connectMs } = config.timeouts;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(LOOKS_MS)]);
  await examine(engine, { timeoutMs: LOOK_MS, connectMs, calls: false, signal }).catch((error: unknown) => {
    if (error instanceof NotAnEngine) throw new GatewayError('not_an_engine', `${error.message}.`, { param: 'url' });
  });
}

function readEngine(body: unknown): EngineConfig {
  const { data, problems } = checkValue(configSchema, { engines: [body] });
  const engine = data?.engines[0];
  // An operator must not make the gateway send its variables to any address.
  if (engine?.apiKey?.startsWith('env:'))
    throw new GatewayError('invalid_body', 'apiKey must be the key itself; only a file may name a variable.', {
      param: 'apiKey',
    });
  if (engine !== undefined) return engine;
  const [problem] = problems;
  const param = pathText(problem?.path.slice(2) ?? []);
  const message = sentenceOf(param, problem?.message ?? 'is wrong');
  throw new GatewayError('invalid_body', message, param === '' ? {} : { param });
}

function undrain({ fleet, membership }: Parts, id: EngineId): void {
  if (membership.originOf(id) === undefined)
    throw new GatewayError('unknown_engine', 'The engine is being removed. Add it again by POST /engines.');
  fleet.resume(id);
}

function drain(context: Parts, engine: Engine, request: IncomingMessage): void {
  spareLast(context, engine, request);
  context.fleet.drain(engine.id);
}

/** @throws GatewayError `last_engine` if calls would fail without the engine, unless the query has `force` */
function spareLast({ fleet, driver }: Parts, engine: Engine, request: IncomingMessage): void {
  const isNeeded = (model: string) =>
    !fleet.awaited.has(model) && !fleet.serving(model).some((other) => other !== engine && isServing(other));
  const models = [...engine.models.keys()].filter(isNeeded);
  if (!isServing(engine) || models.length === 0 || queryOf(request).has('force')) return;
  const waiting = count(driver.queue().waiting);
  throw new GatewayError(
    'last_engine',
    `No other engine in service serves ${models.join(', ')}: calls for it would fail, those that wait too (${waiting} at present). Only force (--force) takes it out of service.`,
  );
}

function removeEngine(context: Parts, request: IncomingMessage, params: Params) {
  const engine = findEngine(context, params);
  spareLast(context, engine, request);
  context.membership.remove(engine.id);
  return { id: engine.id, removed: true };
}

function showReady(context: Parts, response: ServerResponse): void {
  const { draining, fleet } = context;
  const takesCalls = fleet.awaited.size > 0 || fleet.list().some(isServing);
  const obstacle = draining ? 'draining' : takesCalls ? undefined : 'no_engine';
  const status = obstacle === undefined ? 200 : 503;
  const body = { ready: obstacle === undefined, reason: obstacle, cluster: context.cluster?.standing };
  sendJson(response, status, obstacle ?? 'ready', body);
}
