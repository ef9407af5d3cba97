import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';
import { readBody } from '../http/body.js';
import { toEngine } from '../http/headers.js';
import { readingsOf, splitTarget } from '../http/target.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'config' | 'fleet' | 'log'>;

export const EVERY_ENGINE = '/every-engine';

/** Characters of each engine's answer to include. */
const SHOWN_MAX = 1000;

/**
 * `POST /every-engine/{path}`: makes the same change on all replicas, such as loading an adapter. Sends nothing unless
 * every engine is ready. Answers 200 if all engines answered 2xx, else 502 with each engine's answer. The operator must
 * then repair the difference, because a change cannot be rolled back across engines.
 * @throws GatewayError `path_not_allowed`, `invalid_path`, `no_engine`, and the errors of `readBody`
 */
export async function postToEveryEngine(
  context: Parts,
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

/** One engine's answer; status 0 if the engine could not be reached. */
async function post({ config }: Parts, engine: Engine, target: string, request: IncomingMessage, body: Buffer) {
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
    return { id, status: answer.statusCode, body: await beginningOf(answer.body) };
  } catch (error) {
    return { id, status: 0, body: (error as Error).message };
  }
}

/** The first `SHOWN_MAX` characters; the connection of a longer answer is closed. */
async function beginningOf(body: Readable): Promise<string> {
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length >= SHOWN_MAX) break;
  }
  return text.slice(0, SHOWN_MAX);
}
