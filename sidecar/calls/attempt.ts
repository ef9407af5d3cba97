import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerFacts, StreamReader } from '../apis/api.js';
import { parseObject } from '../apis/fields.js';
import type { Config } from '../config/index.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { Exchange, type AnswerSink, type Fault } from '../http/exchange.js';
import { toEngine } from '../http/headers.js';
import { failureOf, isOfCaller, refusalOf, secretsOf, tooLarge } from './refusal.js';
import type { CallSpec } from './spec.js';
import { joined, spliceFields } from '../http/splice.js';
import { SseSplitter, isEventStream } from '../http/sse.js';

/** Receives the events of an attempt; the call implements it. One of the last four ends the attempt. */
export interface AttemptSink {
  /** The first event is about to be forwarded. */
  began(reader: StreamReader): void;
  /** Bytes of the stream to forward; the sink may pause the exchange. */
  forward(bytes: Buffer): void;
  /** Number of events forwarded so far. It approximates tokens, exactly so if the engine sends one token per event. */
  progressed(events: number): void;

  /** The stream ended as its API specifies. */
  streamed(facts: AnswerFacts): void;
  /** A whole answer for the client: 2xx, 3xx or 4xx; `facts` for 2xx. */
  answered(status: number, headers: IncomingHttpHeaders, body: Buffer, facts: AnswerFacts | undefined): void;
  /** The engine has no room, according to its whole answer. */
  busy(status: number, headers: IncomingHttpHeaders, body: Buffer): void;
  /** The engine failed: it refused, reset or stalled, cut its answer short, sent garbage, or answered 5xx. */
  failed(error: GatewayError, fault: Fault): void;
}

/** Most events between two reports of progress, and the longest time between them. */
const PROGRESS_EVENTS = 64;
const PROGRESS_MS = 1000;
/** Time limit of an engine's answer to an abort. */
const ABORT_MS = 5000;

/** Statuses that mean "no room now" for every engine here. */
const isBusy = (status: number): boolean => status === 429 || status === 503;

/**
 * One attempt of one call on one engine. It judges the answer while forwarding it, and does not know the client.
 *
 * ```
 *   head ──▶ 200 and an event stream? ──▶ events, each judged by the API's reader ──▶ streamed | failed
 *     └────▶ anything else is taken whole ──▶ answered | busy | failed
 * ```
 */
export class Attempt implements AnswerSink {
  readonly exchange: Exchange;
  readonly #answerBytesMax: number;
  /** Id under which the engine can abort the request; undefined if it offers no abort. */
  readonly #abortId: string | undefined;
  #status = 0;
  headers: IncomingHttpHeaders = {};
  #splitter: SseSplitter | undefined;
  reader: StreamReader | undefined;
  #events = 0;
  #reportedEvents = 0;
  #reportedAt = 0;
  /** An error that the engine sent as an event. Its client gets it in the form of its API. */
  #error: GatewayError | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(
    readonly engine: Engine,
    private readonly call: CallSpec,
    config: Config,
    private readonly sink: AttemptSink,
  ) {
    const { path, search, raw, keys, fields, headers, trace } = call;
    const { abort } = engine.adapter;
    this.#answerBytesMax = config.limits.answerBytes;
    this.#abortId = abort && randomUUID();
    const changes = this.#abortId === undefined ? fields : { ...fields, ...abort?.fields(this.#abortId, path) };
    const dropKey = config.auth.keys.length > 0;
    const request = {
      method: 'POST',
      path: engine.basePath + path + search,
      headers: toEngine(headers, { dropKey, apiKey: engine.config.apiKey, plain: true, trace }),
      body: spliceFields(raw, keys, changes),
    };
    const { firstByteMs, idleMs } = config.timeouts;
    this.exchange = new Exchange(engine.pool, request, { firstByteMs, idleMs, decode: true }, this);
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.exchange.abort();
    this.#tellEngine();
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.headers = headers;
    const { api, facts, identity } = this.call;
    if (status !== 200 || !facts.stream || !isEventStream(headers['content-type'])) return;
    this.reader = api.readStream(facts, identity.leaf !== undefined);
    this.#splitter = this.#split(this.reader);
  }

  data(chunk: Buffer): void {
    if (this.#splitter === undefined) {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes > this.#answerBytesMax) this.#failAtOnce(tooLarge(this.#answerBytesMax));
      return;
    }
    for (const bytes of this.#splitter.push(chunk)) this.sink.forward(bytes);
    if (this.#error !== undefined) return this.#failAtOnce(this.#error);
    if (this.#events > 0) this.#progress();
    if (this.#splitter.heldBytes > this.#answerBytesMax) this.#failAtOnce(tooLarge(this.#answerBytesMax));
  }

  #progress(): void {
    const now = performance.now();
    if (this.#events - this.#reportedEvents < PROGRESS_EVENTS && now - this.#reportedAt < PROGRESS_MS) return;
    this.#reportedEvents = this.#events;
    this.#reportedAt = now;
    this.sink.progressed(this.#events);
  }

  end(): void {
    if (this.#over) return;
    if (this.#splitter === undefined) this.#settleWhole();
    else {
      // Bytes after the last blank line are half an event, unless they complete the answer.
      const rest = this.#splitter.end();
      if (this.#error !== undefined) return this.#failAtOnce(this.#error);
      if (this.reader?.complete === true) for (const bytes of rest) this.sink.forward(bytes);
      this.#settleStream();
    }
  }

  failed(error: GatewayError, fault: Fault): void {
    if (this.#over) return;
    if (error.code === 'engine_timeout') this.#tellEngine();
    if (this.#splitter === undefined) this.#settleWhole(error, fault);
    else this.#settleStream(error, fault);
  }

  /** Sends an explicit abort to engines that are slow to notice a closed connection. Their answer is ignored. */
  #tellEngine(): void {
    const { adapter, basePath, config, pool } = this.engine;
    if (adapter.abort === undefined || this.#abortId === undefined) return;
    const { path, body } = adapter.abort.request(this.#abortId);
    const headers = {
      'content-type': 'application/json',
      ...(config.apiKey !== undefined && { authorization: `Bearer ${config.apiKey}` }),
    };
    pool
      .request({
        method: 'POST',
        path: basePath + path,
        headers,
        body,
        headersTimeout: ABORT_MS,
        bodyTimeout: ABORT_MS,
      })
      .then((answer) => answer.body.dump())
      .catch(() => undefined);
  }

  #split(reader: StreamReader): SseSplitter {
    return new SseSplitter((event) => {
      if (this.#error !== undefined) return 'hide';
      const verdict = reader.push(event);
      if (reader.failed) this.#error = failureOf(this.#status, Buffer.from(event.data), this.#asked);
      if (verdict === 'hide') return 'hide';
      if (this.#events++ === 0) this.sink.began(reader);
      return verdict;
    });
  }

  /** If nothing was forwarded, another engine may do better. */
  #failAtOnce(error: GatewayError): void {
    if (this.#over) return;
    this.abort();
    this.sink.failed(error, 'answer');
  }

  /** A stream that announced its end is complete, even if its connection broke. */
  #settleStream(error?: GatewayError, fault: Fault = 'answer'): void {
    this.#over = true;
    if (this.reader?.complete === true) return this.sink.streamed(this.reader.facts());
    const cutShort = new GatewayError('engine_failed', 'The engine ended its answer before it was complete.');
    this.sink.failed(error ?? cutShort, fault);
  }

  #settleWhole(error?: GatewayError, fault: Fault = 'answer'): void {
    this.#over = true;
    const status = this.#status;
    const body = joined(this.#chunks);
    if (isBusy(status) && !(status === 429 && isOfCaller(body))) this.sink.busy(status, this.headers, body);
    else if (error !== undefined && !isBusy(status)) this.sink.failed(error, fault);
    else if (status >= 300 && status < 500) this.sink.answered(status, this.headers, body, undefined);
    else if (status >= 200 && status < 300) this.#settleSuccess(body);
    else this.sink.failed(failureOf(status, body, this.#asked), 'answer');
  }

  refusal(status: number, body: Buffer): GatewayError {
    return refusalOf(status, body, this.#asked);
  }

  get #asked() {
    return { path: this.call.path, secrets: secretsOf(this.engine, this.call.headers) };
  }

  /** A successful answer is a JSON object; anything else was cut short or does not come from an engine. */
  #settleSuccess(body: Buffer): void {
    const answer = parseObject(body.toString('utf8'));
    if (answer !== undefined)
      return this.sink.answered(this.#status, this.headers, body, this.call.api.readAnswer(answer));
    const error = new GatewayError('engine_answer_invalid', 'The engine’s answer is not a JSON object.');
    this.sink.failed(error, 'answer');
  }
}
