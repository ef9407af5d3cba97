import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { programId } from '../../src/index.js';
import type { Api } from '../apis/index.js';
import type { Active } from '../calls/active.js';
import { refusalFor, refusalOf, secretsOf, tooLarge } from '../calls/refusal.js';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { writeFrom } from '../http/answer.js';
import { Exchange, type AnswerSink, type Fault } from '../http/exchange.js';
import { fieldsOf, idHeaders, requestIdOf, toClient, toEngine } from '../http/headers.js';
import type { Admitted } from '../http/listener.js';
import { joined } from '../http/splice.js';
import { isEventStream } from '../http/sse.js';
import { splitTarget } from '../http/target.js';
import { tellFailure } from '../log.js';

/** A request that bypasses the queues, and the API whose errors its client can read. */
export interface Asked extends Admitted {
  readonly api: Api;
}

/** All passed-through requests count as one program's, because their programs are unknown. */
const PASSED_THROUGH = programId('passed-through');

/**
 * Passes one request to one engine and its answer back, byte for byte, with backpressure both ways. Only a refusal on a path of
 * Anthropic's API or of responses gets that API's form, if it has another, and that of a path that the engine lacks.
 */
export class Relay implements AnswerSink, Active {
  place = -1;
  readonly isRunning = true;
  #exchange: Exchange | undefined;
  #status = 0;
  #isEventStream = false;
  /** A refusal that is taken whole. */
  #refused: Parameters<AnswerSink['head']> | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #settle: (result: GatewayError | undefined) => void = () => undefined;
  readonly #startedAt = performance.now();
  /** Kept, because undici takes the socket from a request whose body it has sent. */
  readonly #socket: Socket;

  constructor(
    private readonly context: Context,
    private readonly engine: Engine,
    private readonly asked: Asked,
  ) {
    this.#socket = asked.request.socket;
  }

  /** Resolves with the engine's failure if nothing was sent to the client, otherwise at the end. */
  async run(target: string, body: Buffer | IncomingMessage | null): Promise<GatewayError | undefined> {
    const { context, engine } = this;
    const { request } = this.asked;
    const { auth, timeouts } = context.config;
    if (this.#socket.destroyed) return undefined;
    context.active.add(this);
    engine.passing += 1;
    this.#socket.once('close', this.#clientGone);
    const headers = toEngine(request.headers, {
      dropKey: auth.keys.length > 0,
      apiKey: engine.config.apiKey,
      plain: this.#hasForm,
    });
    const length = request.headers['content-length'];
    if (body === request && length !== undefined) headers.push('content-length', length);
    const result = await new Promise<GatewayError | undefined>((settle) => {
      this.#settle = settle;
      this.#exchange = new Exchange(
        engine.pool,
        { method: request.method ?? 'GET', path: engine.basePath + target, headers, body },
        { firstByteMs: timeouts.firstByteMs, idleMs: timeouts.idleMs, decode: false },
        this,
      );
    });
    this.#socket.off('close', this.#clientGone);
    engine.passing -= 1;
    context.active.delete(this);
    this.#report(result);
    return result;
  }

  drainedAway(): void {
    this.#exchange?.abort();
    this.#fail(new GatewayError('draining', 'The gateway shut down before the answer was complete.'));
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    // An answer to HEAD has the length of a body that it lacks.
    const hasBody = this.asked.request.method !== 'HEAD';
    const isRead = hasBody && (status === 404 || (status >= 400 && this.#hasForm));
    if (isRead && headers['content-encoding'] === undefined) this.#refused = [status, headers];
    else this.#begin(status, headers, headers['content-length']);
  }

  /** Whether the path is one of an API here; all others have that of chat. */
  get #hasForm(): boolean {
    return this.asked.api.kind !== 'chat';
  }

  #begin(status: number, headers: IncomingHttpHeaders, length: string | undefined): void {
    this.#status = status;
    this.#isEventStream = isEventStream(headers['content-type']);
    const { api, request } = this.asked;
    const own = {
      ...idHeaders(api, requestIdOf(request)),
      'x-maitred-engine': this.engine.id,
      'x-maitred-reason': 'passthrough',
      ...(length !== undefined && { 'content-length': length }),
    };
    this.asked.response.writeHead(status, toClient(headers, this.engine.url, own));
    this.asked.response.flushHeaders();
  }

  data(chunk: Buffer): void {
    const { limits, timeouts } = this.context.config;
    if (this.#exchange === undefined) return;
    if (this.#refused === undefined)
      return writeFrom(this.#exchange, chunk, this.asked.response, this.#socket, timeouts.idleMs);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= limits.answerBytes) return;
    this.#exchange.abort();
    this.#fail(tooLarge(limits.answerBytes));
  }

  end(): void {
    if (this.#refused !== undefined) return this.#endRefused(...this.#refused);
    if (this.#status < 400) this.engine.responded();
    this.asked.response.end();
    this.#settle(undefined);
  }

  #endRefused(status: number, headers: IncomingHttpHeaders): void {
    const { api, request, response } = this.asked;
    const body = joined(this.#chunks);
    const { path } = splitTarget(request.url ?? '');
    const refusal = refusalOf(status, body, { path, secrets: secretsOf(this.engine, request.headers) });
    // Another engine may have the path.
    if (refusal.code === 'unknown_path') return this.#settle(refusal);
    const sent = this.#hasForm ? refusalFor(api, body, refusal, requestIdOf(request)) : { bytes: body, changes: {} };
    this.#begin(status, { ...headers, ...sent.changes }, String(sent.bytes.length));
    response.end(sent.bytes);
    this.#settle(undefined);
  }

  failed(error: GatewayError, fault: Fault): void {
    if (fault === 'unreached') this.engine.unreached();
    else this.engine.misanswered(PASSED_THROUGH);
    this.#fail(error);
  }

  #fail(error: GatewayError): void {
    if (this.#status === 0) return this.#settle(error);
    // Half an answer must not look complete: an error event ends a stream, otherwise the connection breaks.
    const { request, response, api } = this.asked;
    if (this.#isEventStream) response.end(api.errorEvent(error, requestIdOf(request)));
    else response.destroy();
    this.#settle(undefined);
  }

  readonly #clientGone = (): void => {
    this.#exchange?.abort();
    this.#settle(undefined);
  };

  #report(failure: GatewayError | undefined): void {
    this.context.metrics.passedThrough(this.engine.id);
    const fields = {
      ...fieldsOf(this.asked.request),
      engine: this.engine.id,
      status: this.#status,
      duration_ms: Math.round(performance.now() - this.#startedAt),
    };
    if (failure === undefined) this.context.log.info(fields, 'passed through');
    else tellFailure(this.context.log, fields, failure, 'passed through');
  }
}
