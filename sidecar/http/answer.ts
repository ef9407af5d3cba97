import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Api } from '../apis/api.js';
import { GatewayError } from '../errors.js';
import { JSON_TYPE, idHeaders, requestIdOf } from './headers.js';

/** Sends one of the gateway's own answers. `reason` names the sender of the answer, or the reason of a refusal. */
export function send(
  response: ServerResponse,
  status: number,
  reason: string,
  bytes: Buffer,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    'content-length': bytes.length,
    'x-request-id': requestIdOf(response.req),
    'x-maitred-reason': reason,
    ...headers,
  });
  response.end(bytes);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  reason: string,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  send(response, status, reason, Buffer.from(JSON.stringify(body)), { ...JSON_TYPE, ...headers });
}

/** Sends an error of the table, in the shape of the requested API. */
export function sendError(
  response: ServerResponse,
  error: GatewayError,
  api: Pick<Api, 'errorBody' | 'idHeader'>,
  headers: OutgoingHttpHeaders = {},
): void {
  const { retryAfterSeconds } = error;
  const id = requestIdOf(response.req);
  sendJson(response, error.status, error.code, api.errorBody(error, id), {
    ...idHeaders(api, id),
    ...headers,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
    ...(error.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
    ...((error.code === 'draining' || error.code === 'request_timeout') && { connection: 'close' }),
  });
}

/** An error that is not of the table is a fault of ours, and its text is not shown. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError ? thrown : new GatewayError('internal', 'The gateway failed.');

export interface Source {
  pause(): void;
  resume(): void;
}

/** Passes bytes on to a client. While it reads none, the source waits; after `idleMs`, Node closes its connection. */
export function writeFrom(
  source: Source,
  chunk: Buffer,
  response: ServerResponse,
  socket: Socket,
  idleMs: number,
): void {
  if (response.write(chunk)) return;
  source.pause();
  limitSilence(response, socket, idleMs);
  response.once('drain', () => {
    socket.setTimeout(0);
    source.resume();
  });
}

/** Lets Node close a connection whose client reads nothing for `idleMs`, once earlier answers of the connection are out. */
export function limitSilence(response: ServerResponse, socket: Socket, idleMs: number): void {
  if (response.socket !== null) socket.setTimeout(idleMs);
  else response.once('socket', () => socket.setTimeout(idleMs));
}
