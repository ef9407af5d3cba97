import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TenantId } from '../src/index.js';
import { passed, type Api } from './apis/index.js';
import { isServing, type Context } from './context.js';
import type { Engine } from './engines/index.js';
import { GatewayError } from './errors.js';
import { checkMediaType, hasBody, isJson, readBody } from './http/body.js';
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
  tenant: TenantId,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  checkMediaType(request);
  await withBody(context, tenant, request, response, async (bytes) => {
    const { raw, facts } = await context.reader.read(api, path, bytes, () => !request.socket.destroyed);
    await pass(context, enginesFor(context, facts.model), request, response, raw, api, path);
  });
}

/** Any path that the gateway has no opinion of. */
export async function passThrough(
  context: Context,
  api: Api,
  tenant: TenantId,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hasBody(request)) return pass(context, enginesFor(context), request, response, null, api);
  if (!isJson(request)) return pass(context, enginesFor(context), request, response, request, api);
  return withBody(context, tenant, request, response, async (raw) => {
    const model = await modelIn(context, raw, request);
    await pass(context, enginesFor(context, model), request, response, raw, api);
  });
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
  const held = context.responses.get(tenant, id);
  const engine = held === undefined ? undefined : context.fleet.get(held.engine);
  if (engine === undefined) throw new GatewayError('unknown_response', 'No engine here has made such a response.');
  if (!hasBody(request)) return pass(context, [engine], request, response, null, api);
  return withBody(context, tenant, request, response, (body) => pass(context, [engine], request, response, body, api));
}

/** Reads the body, and counts it as held until `use` is over. */
async function withBody(
  context: Context,
  tenant: TenantId,
  request: IncomingMessage,
  response: ServerResponse,
  use: (body: Buffer) => Promise<void>,
): Promise<void> {
  const { limits, timeouts } = context.config;
  const held = context.held.open(tenant);
  try {
    await use(await readBody(request, response, { bodyBytes: limits.bodyBytes, bodyMs: timeouts.bodyMs, held }));
  } finally {
    held.release();
  }
}

/** The model that a JSON body names; a body that is not what its type says is the engine's to refuse. */
async function modelIn(context: Context, raw: Buffer, request: IncomingMessage): Promise<string | undefined> {
  try {
    // A copy: the reader may not give back what it refuses.
    const { facts } = await context.reader.read(passed, '', Buffer.from(raw), () => !request.socket.destroyed);
    return facts.model === '' ? undefined : facts.model;
  } catch (error) {
    const isRefused =
      error instanceof GatewayError && ['invalid_json', 'invalid_body', 'missing_body'].includes(error.code);
    if (isRefused) return undefined;
    throw error;
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
