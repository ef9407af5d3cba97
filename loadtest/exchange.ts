import type { IncomingHttpHeaders } from 'node:http';
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { errors, type Dispatcher } from 'undici';
import { reasonOf } from '../text/index.js';
import { newAnswer, type Answer, type LoadApi, isObject, objectIn } from './apis/api.js';
import { GatewayWords } from './gateway-words.js';
import type { ErrorClass } from './load.js';

/** Upper bound on an answer: characters of one event, or bytes of a whole answer. */
const ANSWER_MAX = 64 * 2 ** 20;
/** Characters kept of an error's body, for a message. */
const DETAIL_MAX = 300;

/** The result of a call. Times are those of `performance.now()`. */
export interface Outcome {
  readonly outcome: 'completed' | ErrorClass;
  /** The error, in words; '' for none. */
  readonly detail: string;
  /** 0: no answer arrived. */
  readonly status: number;
  readonly gateway: GatewayWords;
  readonly answer: Answer;
  /** NaN: no token was seen. */
  readonly firstTokenAt: number;
  readonly endedAt: number;
}

/**
 * One call on the wire, from its dispatch to its one outcome.
 *
 *     sent ──▶ head 200 ──▶ events: parts ... ──▶ the one that ends them ──▶ completed
 *       │         │            └──▶ what is no event of the API ──▶ wrong_content
 *       │         │            └──▶ an error event, or no more comes ──▶ broken_stream
 *       │         └──▶ any other status ──▶ http_...
 *       └──▶ no connection ──▶ unreachable, tls          (any: timeout)
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer = newAnswer();
  #controller: Dispatcher.DispatchController | undefined;
  #parser: EventSourceParser | undefined;
  readonly #decoder = new TextDecoder();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  readonly #gateway = new GatewayWords();
  readonly #startedAt = performance.now();
  #firstTokenAt = NaN;
  #isBegun = false;
  /** Whether a line arrived that no event stream has. */
  #isStrange = false;
  #isOver = false;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly options: { readonly api: LoadApi; readonly stream: boolean; readonly timeoutMs: number },
    private readonly ended: (outcome: Outcome) => void,
  ) {
    this.#timer = setTimeout(() => this.#leave('timeout', `no end after ${options.timeoutMs} ms`), options.timeoutMs);
  }

  start(pool: Dispatcher, path: string, headers: Readonly<Record<string, string>>, body: string): void {
    pool.dispatch({ method: 'POST', path, headers, body }, this);
  }

  abort(): void {
    this.#close();
    this.#controller?.abort(new Error('aborted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('aborted'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver || status < 200) return;
    this.#status = status;
    this.#gateway.takeHeaders(headers);
    if (status !== 200 || !this.options.stream) return;
    if (!/^\s*text\/event-stream\b/i.test(headers['content-type'] ?? ''))
      return this.#leave('wrong_content', `not an event stream but ${headers['content-type'] ?? 'of no type'}`);
    this.#parser = createParser({
      maxBufferSize: ANSWER_MAX,
      onEvent: (event) => this.#event(event),
      onComment: (comment) => this.#gateway.takeComment(comment, performance.now() - this.#startedAt),
      onError: ({ type }) => {
        if (type === 'unknown-field') this.#isStrange = true;
        if (type === 'max-buffer-size-exceeded') this.#leave('wrong_content', 'an event without an end');
      },
    });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#parser !== undefined) return this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > ANSWER_MAX) this.#leave('wrong_content', 'an answer without an end');
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#parser === undefined) this.#settleWhole();
    else if (this.#isStrange) this.#settle('wrong_content', 'not an event stream');
    else this.#settle('broken_stream', 'the stream ended before the answer did');
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    // undici reports a malformed answer as an error too; the connection is not at fault.
    if (isNotHttp(error)) this.#settle('wrong_content', `not HTTP: ${error.message}`);
    else if (this.#status !== 0) this.#settle('broken_stream', short(reasonOf(error)));
    else this.#settle(isTls(error) ? 'tls' : 'unreachable', short(reasonOf(error)));
  }

  #event({ event, data }: EventSourceMessage): void {
    if (this.#isOver) return;
    const { api } = this.options;
    if (data === '[DONE]') {
      if (api.endsWithMark && this.#isBegun) this.#settle('completed', '');
      else if (api.endsWithMark) this.#leave('wrong_content', 'an end, and no answer before it');
      return;
    }
    const value = objectIn(data);
    if (value === undefined) return this.#leave('wrong_content', `an event that is no JSON object: ${short(data)}`);
    this.#isBegun = true;
    const step = event === 'error' ? 'error' : api.event(value, this.#answer);
    if (step === 'part') {
      this.#answer.parts += 1;
      if (this.#answer.parts === 1) this.#firstTokenAt = performance.now();
    } else if (step === 'done') this.#settle('completed', '');
    else if (step === 'error') this.#leave('broken_stream', `an error event: ${short(data)}`);
    else if (step === 'alien') this.#leave('wrong_content', `an event of another API: ${short(data)}`);
  }

  #settleWhole(): void {
    const text = Buffer.concat(this.#chunks, this.#bytes).toString('utf8');
    const status = this.#status;
    if (status !== 200) return this.#settle(classOf(status), `status ${status}: ${short(errorMessage(text))}`);
    const value = objectIn(text);
    if (value === undefined) this.#settle('wrong_content', `not a JSON object: ${short(text)}`);
    else if (this.options.api.whole(value, this.#answer)) this.#settle('completed', '');
    else this.#settle('wrong_content', `not an answer of this API: ${short(text)}`);
  }

  /** Settles, and closes a connection that may still deliver more. */
  #leave(outcome: ErrorClass, detail: string): void {
    if (this.#isOver) return;
    this.#settle(outcome, detail);
    this.#controller?.abort(new Error(outcome));
  }

  #settle(outcome: Outcome['outcome'], detail: string): void {
    const endedAt = performance.now();
    this.#close();
    this.ended({
      outcome,
      detail,
      status: this.#status,
      gateway: this.#gateway,
      answer: this.#answer,
      firstTokenAt: this.#firstTokenAt,
      endedAt,
    });
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

function classOf(status: number): ErrorClass {
  if (status === 408 || status === 429 || status === 499 || status === 503) return `http_${status}`;
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'wrong_content';
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH)/;

export const isNotHttp = (error: Error): boolean => error instanceof errors.HTTPParserError;

/** Whether a connection was made but TLS failed on it. */
export function isTls(error: Error): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return TLS_CODES.test(code ?? '') || (cause instanceof Error && isTls(cause));
}

/** The message of an error's body, in the APIs' shapes. */
export function errorMessage(text: string): string {
  const body = objectIn(text);
  if (body === undefined) return text;
  const { error } = body;
  const message = isObject(error) ? error['message'] : (error ?? body['message'] ?? body['detail']);
  return typeof message === 'string' ? message : text;
}

/** The text in one line, without control characters. */
export const short = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, DETAIL_MAX);
