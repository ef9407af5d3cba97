import type { Engine } from '../engines/engine.js';
import { Exchange } from '../http/exchange.js';

/** Time limit of the engine's answer. */
const ANSWER_MS = 5000;

/** Sends the engine a POST request beside its calls. Its answer, or its absence, is ignored. */
export function tellEngine(
  { basePath, config, pool }: Engine,
  { path, body }: { readonly path: string; readonly body: string },
): void {
  const headers = ['content-type', 'application/json'];
  if (config.apiKey !== undefined) headers.push('authorization', `Bearer ${config.apiKey}`);
  const request = { method: 'POST', path: basePath + path, headers, body: Buffer.from(body) };
  const ignore = (): void => undefined;
  const nobody = { head: ignore, data: ignore, end: ignore, failed: ignore };
  new Exchange(pool, request, { firstByteMs: ANSWER_MS, idleMs: ANSWER_MS, decode: false }, nobody);
}
