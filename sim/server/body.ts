import type { IncomingMessage } from 'node:http';
import { ApiError, invalidBody } from '../apis/errors.js';
import { isObject, type JsonObject } from '../apis/fields.js';

/** The whole body as text. @throws ApiError 413 above the limit; rejects when the client leaves. */
export async function readText(request: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Keeps an aborted read's request open, so that its refusal can still be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ApiError(413, `The body exceeds ${bytesMax} bytes.`, null, { connection: 'close' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws ApiError 400 for anything but a JSON object. */
export function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidBody('The body is not JSON.');
  }
  if (!isObject(value)) throw invalidBody('The body is no JSON object.');
  return value;
}
