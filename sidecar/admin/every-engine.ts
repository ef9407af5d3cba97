import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';
import { readBody } from '../http/body.js';
import { toEngine } from '../http/headers.js';
import { readingsOf, splitTarget } from '../http/target.js';

export const EVERY_ENGINE = '/every-engine';

/** Of an engine's answer, in characters. */
const SHOWN_MAX = 1000;

/**
 * `POST /every-engine/{path}`: changes all replicas alike, such as by an adapter to load. Nothing is sent unless every
 * engine is ready. Answers 200 when all said 2xx; else 502, with what each said, for the operator to mend: engines
 * cannot take a change back together.
 * @throws GatewayError `path_not_allowed`, `invalid_path`, `no_engine`, and what `readBody` throws
 */
export async function postToEveryEngine(
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { admin, limits, timeouts } = context.config;
  const target = (request.url ?? '').slice(EVERY_ENGINE.length);
  if (!readingsOf(splitTarget(target).path).every((reading) => admin.enginePaths.includes(reading))) {
    throw new GatewayError('path_not_allowed', 'This path is not sent to engines. List it in admin.enginePaths.');
  }
  const body = await readBody(request, response, { bodyBytes: limits.bodyBytes, bodyMs: timeouts.bodyMs });
  const engines = context.fleet.list();
  const absent = engines.find(({ state }) => state === 'joining' || state === 'ejected');
  if (engines.length === 0 || absent !== undefined) {
    throw new GatewayError('no_engine', `Nothing was sent: ${absent?.id ?? 'no engine'} is not ready.`);
  }
  const answers = await Promise.all(engines.map((engine) => post(context, engine, target, request, body)));
  const isDone = answers.every(({ status }) => status >= 200 && status < 300);
  context.log.info({ path: target, done: isDone }, 'sent to every engine');
  sendJson(request, response, isDone ? 200 : 502, isDone ? 'admin' : 'engine_failed', { engines: answers });
}

/** What one engine said; status 0 when it could not be asked. */
async function post({ config }: Context, engine: Engine, target: string, request: IncomingMessage, body: Buffer) {
  const { id, pool, basePath } = engine;
  const { apiKey } = engine.config;
  try {
    const answer = await pool.request({
      method: 'POST',
      path: basePath + target,
      headers: toEngine(request.headers, { dropKey: true, apiKey, plain: true }),
      body,
      headersTimeout: config.timeouts.firstByteMs,
      bodyTimeout: config.timeouts.idleMs,
    });
    return { id, status: answer.statusCode, body: (await answer.body.text()).slice(0, SHOWN_MAX) };
  } catch (error) {
    return { id, status: 0, body: (error as Error).message };
  }
}
