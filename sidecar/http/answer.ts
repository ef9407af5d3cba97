import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Api } from '../apis/api.js';
import { GatewayError } from '../errors.js';
import { requestIdOf } from './headers.js';

/** Sends a JSON answer of the gateway's own. `reason` tells the client who answered, or why it was refused. */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  reason: string,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    'x-request-id': requestIdOf(request),
    'x-maitred-reason': reason,
    ...headers,
  });
  response.end(bytes);
}

/** Sends an error of the table, in the shape of the API that was asked. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: GatewayError,
  api: Pick<Api, 'errorBody'>,
  headers: OutgoingHttpHeaders = {},
): void {
  const { retryAfterSeconds } = error.detail;
  sendJson(request, response, error.status, error.code, api.errorBody(error), {
    ...headers,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
    ...(error.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
    ...((error.code === 'draining' || error.code === 'request_timeout') && { connection: 'close' }),
  });
}

/** Any thrown value as an error of the table; what is not one is a fault of ours, and is not shown. */
export function asGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal', 'The gateway failed.');
}
