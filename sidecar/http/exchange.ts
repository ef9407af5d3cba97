import type { IncomingHttpHeaders } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { span } from '../../text/index.js';
import { GatewayError, PLAIN } from '../errors.js';

/**
 * Cause of a failed exchange:
 * - `unreached`: no connection, which no request can cause.
 * - `transport`: the engine broke off before its headers, or while the request was being sent.
 * - `answer`: the answer was cut short, unreadable or too slow.
 */
export type Fault = 'unreached' | 'transport' | 'answer';

/** Receives an exchange, in this order: `head` once, `data` any number of times, then one of `end` and `failed`. */
export interface AnswerSink {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
  /** `engine_timeout`, `engine_failed`, or `engine_answer_invalid`. It may come at any time before `end`. */
  failed(error: GatewayError, fault: Fault): void;
}

export interface ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
  /** Buffers are parts of one body. */
  readonly body: Buffer | readonly Buffer[] | Readable | null;
}

export interface ExchangeOptions {
  /** Time from the complete request to the first byte of the answer's body. */
  readonly firstByteMs: number;
  /** Time between two parts of the body. */
  readonly idleMs: number;
  /** Whether to decompress the answer. The request asks for no compression, but some engines compress anyway. */
  readonly decode: boolean;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * One request to an engine and its answer, with backpressure and the gateway's own timeouts.
 *
 * ```
 *   constructed ──▶ head ──▶ data* ──▶ end
 *        └───────────┴────────┴──────▶ failed        abort(): silence from then on
 * ```
 *
 * undici's own timers are off. Its `headersTimeout` ends with the headers, which many engines send long before the
 * first token. And a slow reader must not make the engine count as silent.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: Transform | undefined;
  #over = false;
  #paused = false;
  /** Whether the client's body is still being sent; until then the engine owes no answer. */
  #isSending: boolean;
  #began = false;
  #hasHead = false;
  /** Time since which the engine has owed bytes. */
  #silentSince = performance.now();
  #timer: NodeJS.Timeout;

  constructor(
    dispatcher: Dispatcher,
    request: ExchangeRequest,
    private readonly options: ExchangeOptions,
    private readonly sink: AnswerSink,
  ) {
    this.#isSending = request.body instanceof Readable;
    if (request.body instanceof Readable)
      request.body.once('end', () => {
        this.#isSending = false;
        this.#silentSince = performance.now();
      });
    this.#timer = setTimeout(this.#checkSilence, Math.min(options.firstByteMs, options.idleMs));
    const { method, path, headers, body } = request;
    const parts = Array.isArray(body) ? (body as readonly Buffer[]) : undefined;
    if (parts) headers.push('content-length', String(parts.reduce((sum, { length }) => sum + length, 0)));
    // undici's types lack the iterables that its documentation names.
    const sent = body as Buffer | null;
    // Not spread: V8 gives an object to which fields are added after a spread a new shape, at each call.
    dispatcher.dispatch(
      { method, path, headers, body: sent, idempotent: false, headersTimeout: 0, bodyTimeout: 0 },
      this,
    );
  }

  /** Aborts the exchange by closing its connection, which is the engine's signal. Reports nothing more. */
  abort(): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.abort(new Error('aborted'));
  }

  /** Reads no more bytes from the engine until `resume`. */
  pause(): void {
    this.#paused = true;
    (this.#decoder ?? this.#controller)?.pause();
  }

  /** Not at once: one pipelined answer's end makes room for another, and undici cannot resume one while reading it. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#silentSince = performance.now();
    queueMicrotask(() => {
      if (!this.#paused && !this.#over) (this.#decoder ?? this.#controller)?.resume();
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('aborted'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#over || status < 200) return;
    this.#hasHead = true;
    const encoding = this.options.decode ? headers['content-encoding']?.trim().toLowerCase() : undefined;
    if (encoding === undefined || encoding === '' || encoding === 'identity') return this.sink.head(status, headers);
    this.sink.head(status, { ...headers, 'content-encoding': undefined, 'content-length': undefined });
    const make = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
    if (make === undefined)
      this.#fail('engine_answer_invalid', 'The engine’s answer has an unknown encoding.', 'answer');
    else this.#decode(make());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#silentSince = performance.now();
    this.#began = true;
    if (this.#decoder === undefined) this.sink.data(chunk);
    else if (!this.#decoder.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder === undefined) this.#end();
    else this.#decoder.end();
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    const code = codeOf(error);
    const isAnswer = this.#hasHead || code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW';
    const fault = this.#controller === undefined ? 'unreached' : isAnswer ? 'answer' : 'transport';
    this.#fail('engine_failed', messageOf(code, this.#hasHead), fault);
  }

  #decode(decoder: Transform): void {
    this.#decoder = decoder
      .on('data', (chunk: Buffer) => {
        if (!this.#over) this.sink.data(chunk);
      })
      .on('drain', () => this.#controller?.resume())
      .on('end', () => this.#end())
      .on('error', () =>
        this.#fail('engine_answer_invalid', 'The engine’s answer could not be decompressed.', 'answer'),
      );
  }

  #end(): void {
    if (this.#over) return;
    this.#finish();
    this.sink.end();
  }

  #fail(code: 'engine_failed' | 'engine_answer_invalid' | 'engine_timeout', message: string, fault: Fault): void {
    if (this.#over) return;
    this.abort();
    this.sink.failed(new GatewayError(code, message), fault);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
  }

  /** One timer per exchange, not one per chunk. When it fires, it checks the actual duration of the silence. */
  readonly #checkSilence = (): void => {
    const { idleMs, firstByteMs } = this.options;
    const limit = this.#began ? idleMs : firstByteMs;
    const left = this.#paused || this.#isSending ? limit : limit - (performance.now() - this.#silentSince);
    if (left > 0) this.#timer = setTimeout(this.#checkSilence, Math.ceil(Math.min(left, idleMs)));
    else {
      const what = this.#began ? 'has been silent' : 'did not begin to answer';
      this.#fail('engine_timeout', `The engine ${what} for ${span(limit)}.`, 'answer');
    }
  };
}

const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function messageOf(code: string, isInAnswer: boolean): string {
  if (!CLOSED.has(code)) return `The engine failed: ${PLAIN[code] ?? code}.`.replace(/\?\.$/, '?');
  return `The engine closed the connection ${isInAnswer ? 'in the middle of the' : 'before its'} answer.`;
}

/** The cause without the address, because clients need not know the engines' addresses. */
const codeOf = (error: Error): string =>
  (error as NodeJS.ErrnoException).code ?? (error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.name;
