import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors.js';
import { familyOf } from '../apis/index.js';
import { sendError } from './answer.js';
import { settleRequestId } from './headers.js';

/** The last request of each connection. */
const latest = new WeakMap<Socket, ServerResponse>();

export function noteRequest({ socket }: IncomingMessage, response: ServerResponse): void {
  latest.set(socket, response);
}

/**
 * Answers input that never became a request: a line that is not HTTP, headers over the limit, or a late head or body.
 * @returns the refusal; undefined if no one was left to answer
 */
export function answerBrokenRequest(cause: NodeJS.ErrnoException, socket: Socket): GatewayError | undefined {
  // As in Node's own handler: a second answer must not start inside one that has begun on this socket.
  const begun = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  // Nor behind it, if the broken part is the rest of a request that was answered early.
  const last = latest.get(socket);
  const inBody = last?.req.complete === false;
  const answered = begun?.headersSent === true || (inBody && last.headersSent);
  // Within a body, the end of input means that the client has left; the reader of the body notices that.
  const left = cause.code === 'ECONNRESET' || (inBody && cause.code === 'HPE_INVALID_EOF_STATE');
  if (left || answered || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const error = errorOf(cause.code);
  const request = new IncomingMessage(socket);
  const response = new ServerResponse(request).once('finish', () => socket.destroySoon());
  begun?.detachSocket(socket);
  response.assignSocket(socket);
  settleRequestId(request);
  // Before its head is read, a request has no path.
  sendError(response, error, familyOf(inBody ? (last.req.url ?? '') : ''), { connection: 'close' });
  return error;
}

function errorOf(code: string | undefined): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', 'The request headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request did not arrive in time.');
  return new GatewayError('bad_request', 'The request is not valid HTTP.');
}
