import type { IncomingMessage } from 'node:http';
import { passed } from '../apis/index.js';
import { undeclared } from '../calls/declaration.js';
import type { Context } from '../context.js';
import { isServing, type Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { checkMediaType, hasBody, isJson, readBody } from '../http/body.js';
import { splitTarget } from '../http/target.js';
import { noEngine, unserved } from './models.js';
import { Relay, type Asked } from './relay.js';

/**
 * Requests that are not calls of a program: they bypass the queues, go directly to an engine, and come back unchanged.
 *
 * A response's id in the path selects the engine that made it. Otherwise the least loaded engine with the body's model
 * is chosen, or without a model the least loaded of all. If it fails before it answers, the next one follows.
 */

/** A `POST` of a known API that costs an engine next to nothing: counting tokens. @param path the route's own */
export async function passCheap(context: Context, asked: Asked, path: string): Promise<void> {
  const { api, tenant, request } = asked;
  checkMediaType(request);
  await withBody(context, asked, async (bytes) => {
    const read = await context.reader.read(tenant, api, path, bytes, () => !request.socket.destroyed);
    await pass(context, enginesFor(context, read.facts.model), asked, undeclared(read), path);
  });
}

/** Any path without special treatment. */
export async function passThrough(context: Context, asked: Asked): Promise<void> {
  const { request } = asked;
  if (!hasBody(request)) return pass(context, enginesFor(context), asked, null);
  if (!isJson(request)) return pass(context, enginesFor(context), asked, request);
  return withBody(context, asked, async (raw) => {
    const { model, body } = await readPassed(context, asked, raw);
    await pass(context, enginesFor(context, model), asked, body);
  });
}

/** Reading, cancelling or deleting a response, on the engine that made it. @throws GatewayError `unknown_response` */
export async function passToOwner(context: Context, asked: Asked, id: string): Promise<void> {
  const held = context.responses.get(asked.tenant, id);
  const engine = held === undefined ? undefined : context.fleet.get(held.engine);
  if (engine === undefined) throw new GatewayError('unknown_response', 'No engine here has made such a response.');
  if (!hasBody(asked.request)) return pass(context, [engine], asked, null);
  return withBody(context, asked, (body) => pass(context, [engine], asked, body));
}

/** Reads the body, and counts it as held until `use` has ended. */
async function withBody(
  context: Context,
  { tenant, request, response }: Asked,
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

/** A JSON body for an engine, and its model. The engine rejects a body that does not match its type. */
async function readPassed(context: Context, { tenant, request }: Asked, raw: Buffer) {
  try {
    // A copy, because the reader may not return a body that it rejects.
    const read = await context.reader.read(tenant, passed, '', Buffer.from(raw), () => !request.socket.destroyed);
    const { model } = read.facts;
    return { ...(model !== '' && { model }), body: undeclared(read) };
  } catch (error) {
    const unread = ['invalid_json', 'invalid_body', 'missing_body'];
    if (error instanceof GatewayError && unread.includes(error.code)) return { body: raw };
    throw error;
  }
}

/** Engines that could answer, the least loaded first. @throws GatewayError `no_engine`, `unknown_model` */
function enginesFor(context: Context, model?: string): Engine[] {
  const all = context.fleet.list().filter(isServing);
  const fit = model === undefined ? all : all.filter((engine) => engine.models.has(model));
  if (fit.length > 0) return fit.sort((a, b) => a.inFlight - b.inFlight);
  throw model === undefined || context.fleet.serving(model).length > 0
    ? noEngine(context.fleet)
    : unserved(context, model);
}

async function pass(
  context: Context,
  engines: readonly Engine[],
  asked: Asked,
  body: Buffer | IncomingMessage | null,
  ownPath?: string,
): Promise<void> {
  const { request, response } = asked;
  // Reading the body takes time, so draining may have begun.
  context.checkNotDraining();
  const { path, search } = splitTarget(request.url ?? '');
  if (body === request && request.headers.expect !== undefined) response.writeContinue();
  // A streamed body is consumed by the first attempt.
  const tries = body === request ? engines.slice(0, 1) : engines.slice(0, context.config.limits.attemptsMax);
  let failure: GatewayError = noEngine(context.fleet);
  for (const engine of tries) {
    const result = await new Relay(context, engine, asked).run((ownPath ?? path) + search, body);
    if (!(result instanceof GatewayError)) return;
    failure = result;
    if (failure.code === 'draining') break;
  }
  throw failure;
}
