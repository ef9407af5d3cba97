import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { span } from '../../text/index.js';
import type { JsonObject } from '../apis/api.js';
import { isObject } from '../apis/fields.js';
import { GatewayError, reasonOf } from '../errors.js';

interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyMs: number;
  /** Called with the number of bytes as they arrive; it may throw to refuse them. */
  readonly held?: { add(bytes: number): void };
}

/** Largest body that names a single thing: an id, an engine. It is parsed immediately, and not counted as held. */
const SMALL_BODY_BYTES = 65_536;

/**
 * Reads a request body that must be a small JSON object.
 * @throws GatewayError `unsupported_media_type`, `missing_body`, `invalid_json`, `invalid_body`, and as `readBody`
 */
export async function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  bodyMs: number,
): Promise<JsonObject> {
  checkMediaType(request);
  return parseJsonBody(await readBody(request, response, { bodyBytes: SMALL_BODY_BYTES, bodyMs })).body;
}

/** A JSON request body: its bytes without a byte-order mark, and their contents. @throws GatewayError `missing_body`, `invalid_json`, `invalid_body` */
export function parseJsonBody(bytes: Buffer) {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The request body is not UTF-8.');
  const raw = withoutMark(bytes);
  if (raw.length === 0) throw new GatewayError('missing_body', 'The request has no body: it must be a JSON object.');
  let body: unknown;
  try {
    body = JSON.parse(raw.toString('utf8'));
  } catch (error) {
    const reason = reasonOf(error).replace(/ is not valid JSON$/, '');
    throw new GatewayError('invalid_json', `The request body is not valid JSON: ${reason}`);
  }
  if (!isObject(body)) throw new GatewayError('invalid_body', 'The request body must be a JSON object.');
  return { raw, body };
}

export const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

export const isJson = (request: IncomingMessage): boolean =>
  /^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(request.headers['content-type'] ?? '');

/** JSON is UTF-8 (RFC 8259), so another charset, media type or a compressed body is rejected without guessing. */
export function checkMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  if (type === undefined && !hasBody(request)) return;
  if (type !== 'application/json') {
    if (!isJson(request)) {
      throw unsupported('The body must be JSON: send the header content-type: application/json.');
    }
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset))
      throw unsupported('The charset of the request body must be UTF-8.');
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw unsupported('Compressed request bodies are not read: send it without content-encoding.');
}

const unsupported = (text: string): GatewayError => new GatewayError('unsupported_media_type', text);

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads the whole body, bounded in bytes and time.
 * @throws GatewayError `body_too_large`, `request_timeout`, `client_gone`, and the errors of `held`
 */
export const readBody = (request: IncomingMessage, response: ServerResponse, limits: BodyLimits): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > limits.bodyBytes) return reject(tooLarge(limits));
    if (request.headers.expect !== undefined) response.writeContinue();
    let chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (error?: GatewayError): void => {
      clearTimeout(timer);
      request.off('data', take).off('end', settle).off('close', gone).off('error', gone);
      if (error !== undefined) {
        chunks = [];
        request.resume();
        reject(error);
      } else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > limits.bodyBytes) return settle(tooLarge(limits));
      try {
        limits.held?.add(chunk.length);
      } catch (error) {
        settle(error as GatewayError);
      }
    };
    const gone = (): void => settle(new GatewayError('client_gone', 'The client left while sending its request.'));
    const late = (): void =>
      settle(new GatewayError('request_timeout', `The request body did not arrive within ${span(limits.bodyMs)}.`));
    const timer = setTimeout(late, limits.bodyMs);
    request.on('data', take).on('end', settle).on('close', gone).on('error', gone);
  });

const tooLarge = ({ bodyBytes }: BodyLimits): GatewayError =>
  new GatewayError(
    'body_too_large',
    `The request body is over ${bodyBytes} bytes${bodyBytes === SMALL_BODY_BYTES ? '' : ' (limits.bodyBytes)'}.`,
  );
