import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError, type ErrorCode } from '../errors.js';
import { openaiErrorBody } from '../apis/openai.js';

/** The last request of each connection. */
const latest = new WeakMap<Duplex, ServerResponse>();

export function noteRequest({ socket }: IncomingMessage, response: ServerResponse): void {
  latest.set(socket, response);
}

/**
 * Answers what never became a request: a line that is not HTTP, headers over the limit, headers or a body that did not
 * come in time. There is no response object yet, so the answer is written by hand, in the shape of every other refusal.
 * @returns the code it was refused with; undefined when there was no one left to answer.
 */
export function answerBrokenRequest(cause: NodeJS.ErrnoException, socket: Duplex): ErrorCode | undefined {
  // As in node's own handler: an answer that has begun on this socket must not get another one in its midst.
  const begun = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  // Nor one behind it, when what breaks is the rest of a request that was answered before it was whole.
  const last = latest.get(socket);
  const inBody = last?.req.complete === false;
  const answered = begun?.headersSent === true || (inBody && last.headersSent);
  // In a body, the end of all input says that the client has left, which whoever reads the body notices.
  const left = cause.code === 'ECONNRESET' || (inBody && cause.code === 'HPE_INVALID_EOF_STATE');
  if (left || answered || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const error = errorOf(cause.code);
  const body = JSON.stringify(openaiErrorBody(error));
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${randomUUID()}`,
      `x-maitred-reason: ${error.code}`,
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(),
  );
  return error.code;
}

function errorOf(code: string | undefined): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', 'The request headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request did not arrive in time.');
  return new GatewayError('bad_request', 'The request is not valid HTTP.');
}
