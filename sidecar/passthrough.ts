import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TenantId } from '../src/index.js';
import type { Api } from './apis/index.js';
import { isServing, responseKey, type Context } from './context.js';
import type { Engine } from './engines/index.js';
import { GatewayError } from './errors.js';
import { hasBody, isJson, parseJsonBody, readBody, readJsonBody } from './http/body.js';
import { splitTarget } from './http/target.js';
import { noEngine, unknownModel } from './models.js';
import { Relay } from './relay.js';

/**
 * Requests that are not calls of a program: they go to an engine directly, past the queues, and come back as they are.
 *
 * Which engine: the one that made the response that the path names; else the least loaded that serves the model that
 * the body names; else the least loaded of all. One that fails before it answers is followed by the next.
 */

/** A `POST` of a known API that costs an engine next to nothing: counting tokens. */
export async function passCheap(
  context: Context,
  api: Api,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { raw, body } = await readJsonBody(request, response, bodyLimits(context));
  const { model } = api.readRequest(body);
  await pass(context, enginesFor(context, model), request, response, raw, api, path);
}

/** Any path that the gateway has no opinion of. */
export async function passThrough(
  context: Context,
  api: Api,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hasBody(request)) return pass(context, enginesFor(context), request, response, null, api);
  if (!isJson(request)) return pass(context, enginesFor(context), request, response, request, api);
  const raw = await readBody(request, response, bodyLimits(context));
  return pass(context, enginesFor(context, modelIn(raw)), request, response, raw, api);
}

/**
 * What is done to a response that exists: read, cancelled, deleted, at the engine that made it.
 * @throws GatewayError `unknown_response`
 */
export async function passToOwner(
  context: Context,
  api: Api,
  tenant: TenantId,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const held = context.responses.get(responseKey(tenant, id));
  const engine = held === undefined ? undefined : context.fleet.get(held.engine);
  if (engine === undefined) throw new GatewayError('unknown_response', 'No engine here has made such a response.');
  const body = hasBody(request) ? await readBody(request, response, bodyLimits(context)) : null;
  await pass(context, [engine], request, response, body, api);
}

function bodyLimits(context: Context) {
  return { bodyBytes: context.config.limits.bodyBytes, bodyMs: context.config.timeouts.bodyMs };
}

/** The model that a JSON body names; a body that is not what its type says is the engine's to refuse. */
function modelIn(raw: Buffer): string | undefined {
  try {
    const model = parseJsonBody(raw).body['model'];
    return typeof model === 'string' ? model : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Engines that could answer, least loaded first.
 * @throws GatewayError `no_engine`, `unknown_model`
 */
function enginesFor(context: Context, model?: string): Engine[] {
  const all = context.fleet.list().filter(isServing);
  const fit = model === undefined ? all : all.filter((engine) => engine.models.has(model));
  if (fit.length > 0) {
    const load = new Map(fit.map((engine) => [engine, inFlight(context, engine)]));
    return fit.sort((a, b) => (load.get(a) ?? 0) - (load.get(b) ?? 0));
  }
  throw model === undefined || context.fleet.serving(model).length > 0 || all.length === 0
    ? noEngine()
    : unknownModel(model);
}

function inFlight(context: Context, engine: Engine): number {
  const scheduled = context.driver.scheduler.views.engine(engine.id)?.inFlight ?? 0;
  return scheduled + Relay.inFlight(engine);
}

async function pass(
  context: Context,
  engines: readonly Engine[],
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | IncomingMessage | null,
  api: Api,
  ownPath?: string,
): Promise<void> {
  const { path, search } = splitTarget(request.url ?? '');
  if (body === request && request.headers.expect !== undefined) response.writeContinue();
  // A body that streams through is gone with the first try.
  const tries = body === request ? engines.slice(0, 1) : engines.slice(0, context.config.limits.attemptsMax);
  let failure: GatewayError = noEngine();
  for (const engine of tries) {
    const result = await new Relay(context, engine, request, response, api).run((ownPath ?? path) + search, body);
    if (!(result instanceof GatewayError)) return;
    failure = result;
  }
  throw failure;
}
