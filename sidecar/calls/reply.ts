import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Api, StreamReader } from '../apis/api.js';
import { ERRORS, type GatewayError } from '../errors.js';
import { limitSilence, sendError, writeFrom, type Source } from '../http/answer.js';
import { requestIdOf } from '../http/headers.js';
import { SSE_HEADERS, sseComment } from '../http/sse.js';

/**
 * The client's side of one call. It tracks what was sent, which decides an error's form, and whether the client leaves.
 *
 * ```
 *   nothing sent ──▶ whole answer or error with its status
 *        └─────────▶ event stream ──▶ events ──▶ end, or an error event
 * ```
 */
export class Reply {
  readonly #socket: Socket;
  /** Whether a 200 with an event stream has been sent. From then on an error can only be an event. */
  streaming = false;
  /** Status sent, 0 for none; 499: the client has left. */
  status = 0;
  #done = false;

  /** @param idleMs after which a silent client is gone @param gone called at most once, before the reply is done */
  constructor(
    private readonly response: ServerResponse,
    private readonly api: Api,
    private readonly idleMs: number,
    private readonly gone: () => void,
  ) {
    this.#socket = response.req.socket;
    this.#socket.once('close', this.#closed);
  }

  /** The client may have left before this object could notice. */
  lookForClient(): void {
    if (this.#socket.destroyed) this.#closed();
  }

  whole(status: number, headers: OutgoingHttpHeaders, body: Buffer): void {
    this.#finish(status);
    headers['content-length'] = body.length;
    this.response.writeHead(status, headers);
    this.response.end(body);
    this.#watchReader();
  }

  open(headers: OutgoingHttpHeaders): void {
    this.streaming = true;
    this.status = 200;
    this.response.writeHead(200, headers);
  }

  /** Sends a comment, which keeps idle timers on the path from expiring. Opens the stream if necessary. */
  comment(text: string, headers: () => OutgoingHttpHeaders): void {
    if (!this.streaming) this.open({ ...SSE_HEADERS, ...headers() });
    // A client that does not read comments needs no further ones.
    if (!this.response.writableNeedDrain) this.response.write(sseComment(text));
  }

  /** Sends bytes of the stream. @param source pauses while the client reads none of them */
  write(chunk: Buffer, source: Source): void {
    writeFrom(source, chunk, this.response, this.#socket, this.idleMs);
  }

  end(last?: string): void {
    this.#finish(this.status);
    this.response.end(last);
    this.#watchReader();
  }

  /** Ends the reply with an error: an event in an open stream, else a status. @param reader has followed the stream */
  fail(error: GatewayError, headers: OutgoingHttpHeaders = {}, reader?: StreamReader): void {
    if (this.#done) return;
    if (this.#socket.destroyed) return this.#finish(ERRORS.client_gone.status);
    if (this.streaming) return this.end(this.api.errorEvent(error, requestIdOf(this.response.req), reader));
    this.#finish(error.status);
    sendError(this.response, error, this.api, headers);
  }

  #finish(status: number): void {
    this.status = status;
    this.#done = true;
    this.#socket.off('close', this.#closed);
  }

  /** While bytes wait for the client, Node closes its connection if none of them moves for `idleMs`. */
  #watchReader(): void {
    if (this.response.socket !== null && this.#socket.writableLength === 0) return;
    limitSilence(this.response, this.#socket, this.idleMs);
    // The connection's next answer has its own time. Node's listener, which comes after this one, sets the keep-alive.
    this.response.prependOnceListener('finish', () => this.#socket.setTimeout(0));
  }

  readonly #closed = (): void => {
    if (!this.#done) this.gone();
  };
}
