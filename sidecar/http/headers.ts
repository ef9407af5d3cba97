import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { randomUUID } from 'node:crypto';

/** Headers that speak of one connection and not of the message (RFC 9110 7.6.1). They are never passed on. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** `host` and `content-length` are made anew for the engine; `expect` was answered by us. */
const NOT_TO_ENGINE = new Set([...HOP_BY_HOP, 'host', 'content-length', 'expect']);
/** `content-length` is set anew where the length is known: events may be hidden, and compression taken off. */
const NOT_TO_CLIENT = new Set([...HOP_BY_HOP, 'content-length']);

/** What is put in place of, or taken from, a client's own headers on their way to an engine. */
export interface HeaderChanges {
  /** Drop the client's key: it was meant for the gateway. */
  readonly dropKey: boolean;
  /** The engine's own key, sent as Bearer token. */
  readonly apiKey?: string | undefined;
  /** Ask for an answer without compression, because it will be read on its way through. */
  readonly plain: boolean;
}

/** The client's headers as an engine may see them: a flat list of names and values. */
export function toEngine(headers: IncomingHttpHeaders, changes: HeaderChanges): string[] {
  const named = namedByConnection(headers.connection);
  const dropKey = changes.dropKey || changes.apiKey !== undefined;
  const out: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || NOT_TO_ENGINE.has(name) || named?.includes(name) === true) continue;
    if (dropKey && (name === 'authorization' || name === 'x-api-key')) continue;
    if (changes.plain && name === 'accept-encoding') continue;
    if (typeof value === 'string') out.push(name, value);
    else for (const each of value) out.push(name, each);
  }
  if (changes.apiKey !== undefined) out.push('authorization', `Bearer ${changes.apiKey}`);
  if (changes.plain) out.push('accept-encoding', 'identity');
  return out;
}

/** An engine's headers as the client may see them. A redirect to the engine itself leads here. @param base of the engine */
export function toClient(headers: IncomingHttpHeaders, base?: URL): OutgoingHttpHeaders {
  const named = namedByConnection(headers.connection);
  const out: OutgoingHttpHeaders = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !NOT_TO_CLIENT.has(name) && named?.includes(name) !== true) out[name] = value;
  }
  if (base !== undefined && headers.location?.startsWith(base.href) === true)
    out['location'] = `/${headers.location.slice(base.href.length).replace(/^\/+/, '')}`;
  return out;
}

/** Header names that the message itself calls hop-by-hop. */
function namedByConnection(connection: string | undefined): string[] | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return connection.toLowerCase().split(/[\s,]+/);
}

const SANE_REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/**
 * The request's id: the client's own if it is sane, else a new one. It replaces the header, so that whoever reads
 * the request later, the engine included, finds the same id.
 */
export function settleRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && SANE_REQUEST_ID.test(given)) return given;
  const id = randomUUID();
  request.headers['x-request-id'] = id;
  return id;
}

export function requestIdOf(request: IncomingMessage): string {
  return request.headers['x-request-id'] as string;
}

const VALUE_LENGTH_MAX = 256;

/** Any string as a header value: what HTTP cannot carry is percent-encoded, and the length is bounded. */
export function headerValue(text: string): string {
  const short = text.slice(0, VALUE_LENGTH_MAX);
  if (/^[\x21-\x7e]*$/.test(short)) return short;
  // Through bytes and back: half a surrogate pair, cut or sent, becomes U+FFFD instead of an exception.
  return encodeURIComponent(Buffer.from(short).toString());
}

const RETRY_SECONDS_MAX = 300;

/** Seconds that a `Retry-After` asks for (a number, or a date seen from `now`), bounded; undefined if it says nothing. */
export function retryAfterSeconds(value: string | string[] | undefined, now: Date): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), RETRY_SECONDS_MAX);
}
