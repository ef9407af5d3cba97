import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { programId, type TenantId } from '../../src/index.js';
import type { Api } from '../apis/index.js';
import type { Active } from '../calls/active.js';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { writeFrom } from '../http/answer.js';
import { Exchange, type AnswerSink, type Fault } from '../http/exchange.js';
import { requestIdOf, toClient, toEngine } from '../http/headers.js';
import { isEventStream } from '../http/sse.js';

/** A request that bypasses the queues, and the API whose errors its client can read. */
export interface Asked {
  readonly api: Api;
  readonly tenant: TenantId;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** All passed-through requests count as one program's, because their programs are unknown. */
const PASSED_THROUGH = programId('passed-through');

/** Length of the answer of FastAPI, so of vLLM and SGLang, for a path that it lacks. SDKs cannot read it. */
const NO_PATH_BYTES = String('{"detail":"Not Found"}'.length);

const inFlight = new WeakMap<Engine, number>();

/** Passes one request to one engine and its answer back, byte for byte, with backpressure both ways. */
export class Relay implements AnswerSink, Active {
  place = -1;
  readonly isRunning = true;
  #exchange: Exchange | undefined;
  #status = 0;
  #isEventStream = false;
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

  /** Requests that are being passed through to the engine. */
  static inFlight(engine: Engine): number {
    return inFlight.get(engine) ?? 0;
  }

  /** Resolves with the engine's failure if nothing was sent to the client, otherwise at the end. */
  async run(target: string, body: Buffer | IncomingMessage | null): Promise<GatewayError | undefined> {
    const { context, engine } = this;
    const { request } = this.asked;
    const { auth, timeouts } = context.config;
    if (this.#socket.destroyed) return undefined;
    context.active.add(this);
    inFlight.set(engine, Relay.inFlight(engine) + 1);
    this.#socket.once('close', this.#clientGone);
    const headers = toEngine(request.headers, {
      dropKey: auth.keys.length > 0,
      apiKey: engine.config.apiKey,
      plain: false,
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
    inFlight.set(engine, Relay.inFlight(engine) - 1);
    context.active.delete(this);
    this.#report(result);
    return result;
  }

  drainedAway(): void {
    this.#exchange?.abort();
    this.#fail(new GatewayError('draining', 'The gateway shut down before the answer was complete.'));
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    const length = headers['content-length'];
    if (status === 404 && length === NO_PATH_BYTES) {
      this.#exchange?.abort();
      this.#settle(new GatewayError('unknown_path', 'The engine has no such path.'));
      return;
    }
    this.#status = status;
    this.#isEventStream = isEventStream(headers['content-type']);
    const own = {
      'x-request-id': requestIdOf(this.asked.request),
      'x-maitred-engine': this.engine.id,
      'x-maitred-reason': 'passthrough',
      ...(length !== undefined && { 'content-length': length }),
    };
    this.asked.response.writeHead(status, toClient(headers, this.engine.url, own));
    this.asked.response.flushHeaders();
  }

  data(chunk: Buffer): void {
    const { idleMs } = this.context.config.timeouts;
    if (this.#exchange !== undefined) writeFrom(this.#exchange, chunk, this.asked.response, this.#socket, idleMs);
  }

  end(): void {
    if (this.#status < 400) this.engine.responded();
    this.asked.response.end();
    this.#settle(undefined);
  }

  failed(error: GatewayError, fault: Fault): void {
    if (fault === 'unreached') this.engine.unreached();
    else this.engine.misanswered(PASSED_THROUGH);
    this.#fail(error);
  }

  #fail(error: GatewayError): void {
    if (this.#status === 0) {
      this.#settle(error);
      return;
    }
    // Half an answer must not look complete: an error event ends a stream, otherwise the connection breaks.
    if (this.#isEventStream) this.asked.response.end(this.asked.api.errorEvent(error));
    else this.asked.response.destroy();
    this.#settle(undefined);
  }

  readonly #clientGone = (): void => {
    this.#exchange?.abort();
    this.#settle(undefined);
  };

  #report(failure: GatewayError | undefined): void {
    this.context.metrics.passedThrough(this.engine.id);
    this.context.log.info(
      {
        request_id: requestIdOf(this.asked.request),
        method: this.asked.request.method,
        path: this.asked.request.url?.split('?', 1)[0],
        engine: this.engine.id,
        status: this.#status,
        code: failure?.code,
        duration_ms: Math.round(performance.now() - this.#startedAt),
      },
      'passed through',
    );
  }
}
