import type { IncomingHttpHeaders } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../errors.js';

/**
 * Why an exchange failed: no connection came about; the engine broke off before its headers, or was too slow; or what it
 * answered was cut short or could not be read, which may be the request's fault.
 */
export type Fault = 'unreached' | 'transport' | 'answer';

/** What an exchange tells, in this order: `head` once, `data` any number of times, then one of `end` and `failed`. */
export interface AnswerSink {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
  /** `engine_timeout`, `engine_failed`, or `engine_answer_invalid`. May come at any time before `end`. */
  failed(error: GatewayError, fault: Fault): void;
}

export interface ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

export interface ExchangeOptions {
  /** From the request, all of it, to the first byte of the answer's body. */
  readonly firstByteMs: number;
  /** Between two parts of the body. */
  readonly idleMs: number;
  /** Take compression off the answer: it was asked for none, but some engines compress whatever is asked. */
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
 * undici's own timers are off: its `headersTimeout` ends with the headers, which many engines send long before the
 * first token, and a reader who holds the answer back is not a silent engine.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: Transform | undefined;
  #over = false;
  #paused = false;
  /** The client's body is still on its way: the engine owes nothing yet. */
  #isSending = false;
  #began = false;
  #hasHead = false;
  /** Since when the engine has owed us bytes. */
  #silentSince = performance.now();
  #timer: NodeJS.Timeout;

  constructor(
    dispatcher: Dispatcher,
    request: ExchangeRequest,
    private readonly options: ExchangeOptions,
    private readonly sink: AnswerSink,
  ) {
    if (request.body instanceof Readable) this.#awaitUpload(request.body);
    this.#timer = setTimeout(this.#checkSilence, Math.min(options.firstByteMs, options.idleMs));
    dispatcher.dispatch({ headersTimeout: 0, bodyTimeout: 0, idempotent: false, ...request }, this);
  }

  /** Stops the exchange, closing the connection that it is on, which is how engines learn of it. Tells nothing more. */
  abort(): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.abort(new Error('aborted'));
  }

  /** Takes no more bytes from the engine until `resume`. */
  pause(): void {
    this.#paused = true;
    (this.#decoder ?? this.#controller)?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#silentSince = performance.now();
    (this.#decoder ?? this.#controller)?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('aborted'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#over || status < 200) return;
    this.#hasHead = true;
    const encoding = this.options.decode ? headers['content-encoding']?.trim().toLowerCase() : undefined;
    if (encoding === undefined || encoding === '' || encoding === 'identity') {
      this.sink.head(status, headers);
      return;
    }
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
    const isAnswer = this.#hasHead || code.startsWith('HPE_');
    const fault = this.#controller === undefined ? 'unreached' : isAnswer ? 'answer' : 'transport';
    this.#fail('engine_failed', `The engine failed: ${code}.`, fault);
  }

  #awaitUpload(body: Readable): void {
    this.#isSending = true;
    body.once('end', () => {
      this.#isSending = false;
      this.#silentSince = performance.now();
    });
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

  /** One timer an exchange, not one a chunk: when it fires, it asks how long the silence has really been. */
  readonly #checkSilence = (): void => {
    const { idleMs, firstByteMs } = this.options;
    const limit = this.#began ? idleMs : firstByteMs;
    const left = this.#paused || this.#isSending ? limit : limit - (performance.now() - this.#silentSince);
    if (left > 0) this.#timer = setTimeout(this.#checkSilence, Math.ceil(Math.min(left, idleMs)));
    else {
      const what = this.#began ? 'has been silent' : 'did not begin to answer';
      this.#fail('engine_timeout', `The engine ${what} for ${limit} ms.`, 'transport');
    }
  };
}

/** The cause without the address: clients need not know where engines live. */
function codeOf(error: Error): string {
  return (
    (error as NodeJS.ErrnoException).code ?? (error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.name
  );
}
