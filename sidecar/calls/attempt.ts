import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerFacts, Api, JsonObject, RequestFacts, StreamReader } from '../apis/api.js';
import type { Engine } from '../engines/fleet.js';
import { GatewayError } from '../errors.js';
import { Exchange, type AnswerSink, type Fault, type ExchangeOptions, type ExchangeRequest } from '../http/exchange.js';
import { isOfCaller, quoteOf } from './refusal.js';
import { SseSplitter, isEventStream } from '../http/sse.js';

/** What an attempt needs to know of its call. */
export interface AttemptCall {
  readonly api: Api;
  readonly facts: RequestFacts;
  /** Whether the answer's text is wanted, for history matching. */
  readonly wantsMessage: boolean;
  /** The client's own keys, which an engine's error must not repeat. */
  readonly secrets: readonly string[];
}

/** Who hears of an attempt: the call. After one of the last four, nothing more comes. */
export interface AttemptSink {
  /** The engine began an event stream. */
  opened(headers: IncomingHttpHeaders): void;
  /** The first event is about to be forwarded. */
  began(reader: StreamReader): void;
  /** Bytes of the stream, to be forwarded; it may pause the exchange. */
  forward(bytes: Buffer): void;
  /** Events forwarded so far: a stand-in for tokens, exact where an engine sends one token an event. */
  progressed(events: number): void;

  /** The stream has ended as its API says that it should. */
  streamed(facts: AnswerFacts, failed: boolean): void;
  /** A whole answer that is the client's: 2xx, 3xx or 4xx; `facts` for 2xx. */
  answered(status: number, headers: IncomingHttpHeaders, body: Buffer, facts: AnswerFacts | undefined): void;
  /** The engine has no room, and says so in a whole answer. */
  busy(status: number, headers: IncomingHttpHeaders, body: Buffer): void;
  /** The engine failed: refused, reset, hung, cut its answer short, sent garbage, 5xx. */
  failed(error: GatewayError, fault: Fault): void;
}

/** For an engine to take note of an abort. */
const ABORT_MS = 5000;

/** Statuses that mean "no room now", by custom of every engine here. */
const isBusy = (status: number): boolean => status === 429 || status === 503;

/**
 * One try of one call on one engine: reads the answer as it passes and judges it. Knows nothing of the client.
 *
 * ```
 *   head ──▶ 200 and an event stream? ──▶ events, each judged by the API's reader ──▶ streamed | failed
 *     └────▶ anything else is taken whole ──▶ answered | busy | failed
 * ```
 */
export class Attempt implements AnswerSink {
  readonly #exchange: Exchange;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #splitter: SseSplitter | undefined;
  #reader: StreamReader | undefined;
  #events = 0;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(
    readonly engine: Engine,
    private readonly call: AttemptCall,
    request: ExchangeRequest,
    options: ExchangeOptions,
    private readonly answerBytesMax: number,
    /** The id by which the engine can be told to stop, if it knows one. */
    private readonly abortId: string | undefined,
    private readonly sink: AttemptSink,
  ) {
    this.#exchange = new Exchange(engine.pool, request, options, this);
  }

  /** Whether an event has been forwarded: after that there is no second try. */
  get hasBegun(): boolean {
    return this.#events > 0;
  }

  get reader(): StreamReader | undefined {
    return this.#reader;
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#exchange.abort();
    this.#tellEngine();
  }

  pause(): void {
    this.#exchange.pause();
  }

  resume(): void {
    this.#exchange.resume();
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status !== 200 || !this.call.facts.stream || !isEventStream(headers['content-type'])) return;
    this.#reader = this.call.api.readStream(this.call.facts, this.call.wantsMessage);
    this.#splitter = this.#split(this.#reader);
    this.sink.opened(headers);
  }

  data(chunk: Buffer): void {
    if (this.#splitter === undefined) {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes > this.answerBytesMax) this.#tooLarge();
      return;
    }
    for (const bytes of this.#splitter.push(chunk)) this.sink.forward(bytes);
    if (this.#events > 0) this.sink.progressed(this.#events);
    if (this.#splitter.heldBytes > this.answerBytesMax) this.#tooLarge();
  }

  end(): void {
    if (this.#over) return;
    if (this.#splitter === undefined) this.#settleWhole();
    else {
      // What follows the last blank line is an event only if it makes the answer whole; else it is half of one.
      const rest = this.#splitter.end();
      if (this.#reader?.complete === true) for (const bytes of rest) this.sink.forward(bytes);
      this.#settleStream();
    }
  }

  failed(error: GatewayError, fault: Fault): void {
    if (this.#over) return;
    if (error.code === 'engine_timeout') this.#tellEngine();
    if (this.#splitter === undefined) this.#settleWhole(error, fault);
    else this.#settleStream(error, fault);
  }

  /** For engines that are slow to see a closed connection. What they answer is of no interest. */
  #tellEngine(): void {
    const { adapter, basePath, config, pool } = this.engine;
    if (adapter.abort === undefined || this.abortId === undefined) return;
    const { path, body } = adapter.abort.request(this.abortId);
    const headers = ['content-type', 'application/json'];
    if (config.apiKey !== undefined) headers.push('authorization', `Bearer ${config.apiKey}`);
    const request = { method: 'POST', path: basePath + path, headers, body: Buffer.from(body) };
    const ignore = (): void => undefined;
    const nobody = { head: ignore, data: ignore, end: ignore, failed: ignore };
    new Exchange(pool, request, { firstByteMs: ABORT_MS, idleMs: ABORT_MS, decode: false }, nobody);
  }

  #split(reader: StreamReader): SseSplitter {
    return new SseSplitter((event) => {
      const verdict = reader.push(event);
      if (verdict === 'forward' && this.#events++ === 0) this.sink.began(reader);
      return verdict;
    });
  }

  /** A stream that said that it was complete is complete, however its connection ended. */
  #settleStream(error?: GatewayError, fault: Fault = 'answer'): void {
    this.#over = true;
    if (this.#reader?.complete === true) this.sink.streamed(this.#reader.facts(), this.#reader.failed);
    else
      this.sink.failed(
        error ?? new GatewayError('engine_failed', 'The engine ended its answer before it was complete.'),
        fault,
      );
  }

  #settleWhole(error?: GatewayError, fault: Fault = 'answer'): void {
    this.#over = true;
    const status = this.#status;
    const body = this.#body();
    if (isBusy(status) && !(status === 429 && isOfCaller(body))) this.sink.busy(status, this.#headers, body);
    else if (error !== undefined && !isBusy(status)) this.sink.failed(error, fault);
    else if (status >= 300 && status < 500) this.sink.answered(status, this.#headers, body, undefined);
    else if (status >= 200 && status < 300) this.#settleSuccess(body);
    else this.sink.failed(new GatewayError('engine_failed', this.#saysOf(status, body)), 'answer');
  }

  #saysOf(status: number, body: Buffer): string {
    const { config, url } = this.engine;
    const quote = quoteOf(body, [config.apiKey ?? '', url.host, url.hostname, ...this.call.secrets]);
    return `The engine answered with status ${status}${quote === '' ? '.' : `: ${quote}`}`;
  }

  /** A successful answer is a JSON object; what is not was cut short or is no answer of an engine. */
  #settleSuccess(body: Buffer): void {
    const answer = parseObject(body);
    if (answer === undefined) {
      this.sink.failed(
        new GatewayError('engine_answer_invalid', 'The engine’s answer is not a JSON object.'),
        'answer',
      );
    } else {
      this.sink.answered(this.#status, this.#headers, body, this.call.api.readAnswer(answer));
    }
  }

  #body(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#bytes);
  }

  #tooLarge(): void {
    if (this.#over) return;
    this.abort();
    this.sink.failed(
      new GatewayError('engine_answer_too_large', `The engine’s answer is over ${this.answerBytesMax} bytes.`),
      'answer',
    );
  }
}

function parseObject(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
