import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Api } from '../apis/api.js';

/** Headers that concern one connection, not the message (RFC 9110 7.6.1). They are never forwarded. */
const OF_PROXIES = ['proxy-authenticate', 'proxy-authorization', 'proxy-connection'];
const HOP_BY_HOP = [...OF_PROXIES, 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** `host` and `content-length` are set anew for the engine; the gateway has already answered `expect`. */
const NOT_TO_ENGINE = new Set([...HOP_BY_HOP, 'host', 'content-length', 'expect']);
/** `content-length` is set anew if the length is known, because events may be hidden and compression removed. */
const NOT_TO_CLIENT = new Set([...HOP_BY_HOP, 'content-length']);

/** Changes to a client's headers before they go to an engine. */
interface HeaderChanges {
  /** The client's key is meant for the gateway. */
  readonly dropKey: boolean;
  /** The engine's own key, sent as a bearer token. */
  readonly apiKey?: string | undefined;
  /** Whether the gateway reads the answer in passing, which must not be compressed then. */
  readonly plain: boolean;
  /** The call's own trace, in the place of the client's. `isNew`: it does not continue the client's. */
  readonly trace?: { readonly traceparent: string; readonly isNew: boolean } | undefined;
}

/** The client's headers for an engine: a flat list of names and values. */
export function toEngine(headers: IncomingHttpHeaders, changes: HeaderChanges): string[] {
  const { apiKey, plain, trace } = changes;
  const named = namedByConnection(headers.connection);
  const dropKey = changes.dropKey || apiKey !== undefined;
  const out: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || NOT_TO_ENGINE.has(name) || named?.includes(name) === true) continue;
    if (dropKey && (name === 'authorization' || name === 'x-api-key')) continue;
    if (plain && name === 'accept-encoding') continue;
    if (trace !== undefined && (name === 'traceparent' || (trace.isNew && name === 'tracestate'))) continue;
    if (typeof value === 'string') out.push(name, value);
    else for (const each of value) out.push(name, each);
  }
  if (apiKey !== undefined) out.push('authorization', `Bearer ${apiKey}`);
  if (plain) out.push('accept-encoding', 'identity');
  if (trace !== undefined) out.push('traceparent', trace.traceparent);
  return out;
}

/**
 * An engine's headers for the client. A redirect to the engine leads here; one to another host is dropped, because it
 * would show an inner address, and clients would send their prompts and keys there.
 * @param base the engine's URL
 * @param own the gateway's headers, to which the engine's others are added
 */
export function toClient(
  headers: IncomingHttpHeaders,
  base: URL | undefined,
  own: OutgoingHttpHeaders = {},
): OutgoingHttpHeaders {
  const named = namedByConnection(headers.connection);
  for (const name in headers) {
    const value = name === 'location' ? locationOf(headers.location, base) : headers[name];
    if (value === undefined || NOT_TO_CLIENT.has(name) || Object.hasOwn(own, name)) continue;
    if (named?.includes(name) !== true) own[name] = value;
  }
  return own;
}

/** A path here; undefined: it leads elsewhere. */
function locationOf(location: string | undefined, base: URL | undefined): string | undefined {
  if (base !== undefined && location?.startsWith(base.href) === true)
    return `/${location.slice(base.href.length).replace(/^\/+/, '')}`;
  // As browsers read it: a backslash is a slash, and two of them begin a host.
  return location === undefined || /^\s*(?:[a-z][a-z\d+.-]*:|[\\/]\s*[\\/])/i.test(location) ? undefined : location;
}

function namedByConnection(connection: string | undefined): string[] | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return connection.toLowerCase().split(/[\s,]+/);
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const SANE_REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** Sets the request's id: the client's own if valid, else a new one in its header, which engines see too. */
export function settleRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && SANE_REQUEST_ID.test(given)) return given;
  const id = randomUUID();
  request.headers['x-request-id'] = id;
  return id;
}

/** Where an API's clients look for a request's id. */
export const idHeaders = ({ idHeader }: Pick<Api, 'idHeader'>, id: string): Record<string, string> => ({
  'x-request-id': id,
  ...(idHeader !== undefined && { [idHeader]: id }),
});

export const requestIdOf = ({ headers }: IncomingMessage): string => headers['x-request-id'] as string;

/** Fields of a log line about a request. */
export const fieldsOf = (request: IncomingMessage) => ({
  request_id: requestIdOf(request),
  method: request.method,
  path: request.url?.split('?', 1)[0],
});

const VALUE_LENGTH_MAX = 256;

/** Any string as a header value of bounded length, percent-encoded as a path's segment: decoding gives it back. */
export function headerValue(text: string): string {
  const short = text.slice(0, VALUE_LENGTH_MAX);
  if (/^[\w.~:@!$&'()*+,;=-]*$/.test(short)) return short;
  // The conversion to bytes and back turns half a surrogate pair into U+FFFD instead of an exception.
  return encodeURIComponent(Buffer.from(short).toString());
}

const RETRY_SECONDS_MAX = 300;

/** Seconds of a `Retry-After` (a number, or a date relative to `now`), bounded; undefined if it cannot be read. */
export function retryAfterSeconds(value: string | string[] | undefined, now: Date): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), RETRY_SECONDS_MAX);
}

/** Later versions may append fields to those of version 00. Source: https://www.w3.org/TR/trace-context/ */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function readTraceparent(header: string | undefined) {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (parseInt(flags ?? '', 16) & 1) === 1 };
}
