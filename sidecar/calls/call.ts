import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { millis, tokens, type Dispatch, type Event, type ProgramId, type Reject, type Usage } from '../../src/index.js';
import type { AnswerFacts, StreamReader } from '../apis/api.js';
import { endProgram } from '../admin/programs.js';
import type { Context } from '../context.js';
import type { CallOwner } from '../driver.js';
import type { Engine } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { retryAfterSeconds, toClient } from '../http/headers.js';
import type { Fault } from '../http/exchange.js';
import type { ExpectedWait } from '../watch/expected-waits.js';
import { isBackground } from '../watch/known-programs.js';
import { arrivalOf } from './arrival.js';
import { Attempt, type AttemptSink } from './attempt.js';
import { Failures, KEEPS_PLACE, outcomeOf, pauseMs, refusalError, unreachedRestMs } from './endings.js';
import { callHeaders, dispatchedComment, queuedComment } from './headers.js';
import type { CallHandle, CallReport, CallSpec, Outcome } from './spec.js';
import { refusalFor } from './refusal.js';
import { Reply } from './reply.js';
import { faultOf } from '../watch/totals.js';
import { CallTimes } from './times.js';

type State = 'arriving' | 'queued' | 'dispatched' | 'streaming' | 'ended';

/**
 * One call, from its arrival at the scheduler to its end.
 *
 * ```
 *   arriving ──▶ queued ──▶ dispatched ──▶ streaming ──▶ ended
 *                  ▲            │  whole answer ───────────▲
 *                  └────────────┘ busy, or failed before the first event: again, in its old place
 * ```
 *
 * Every call ends in `#end`, which acts once: it informs the scheduler, answers the client and reports the call.
 */
export class Call implements CallHandle, CallOwner, AttemptSink {
  place = -1;
  readonly #reply: Reply;
  /** `arriving`: no observer has heard of it yet. */
  #state: State = 'arriving';
  #attempt: Attempt | undefined;
  #attempts = 0;
  #dispatch: Dispatch | undefined;
  /** Failure of the last attempt; the client receives it when no attempts are left. */
  #failure: GatewayError | undefined;
  readonly failures = new Failures();
  /** Engines whose answers failed this call, each with its acquittals until then, and the error. */
  readonly #doubted: (readonly [engine: Engine, acquittals: number, error: string])[] = [];
  /** Status of an engine's refusal that had to be an event of a stream. */
  #refusal: number | undefined;
  #commentTimer: NodeJS.Timeout | undefined;
  readonly #program: ProgramId;
  readonly #times: CallTimes;

  constructor(
    readonly spec: CallSpec,
    response: ServerResponse,
    private readonly context: Context,
  ) {
    this.#program = spec.identity.program;
    this.#times = new CallTimes(context.driver);
    this.#reply = new Reply(response, spec.api, context.config.timeouts.idleMs, () => this.#clientGone());
  }

  start(): void {
    this.context.driver.arrive(arrivalOf(this.spec, this.context.config), this);
    if (this.#state === 'arriving') {
      this.#queue();
      this.context.observers.tell('accepted', this);
    }
    this.#reply.lookForClient();
  }

  get isRunning(): boolean {
    return this.#state === 'dispatched' || this.#state === 'streaming';
  }

  drainedAway(): void {
    const error = new GatewayError('draining', 'The gateway shut down before the answer was complete.');
    this.#end('drained', { type: 'callCancelled', call: this.spec.id }, error);
  }

  // Commands of the scheduler.

  dispatched(dispatch: Dispatch): void {
    if (this.#state === 'arriving') this.context.observers.tell('accepted', this);
    this.#state = 'dispatched';
    this.#dispatch = dispatch;
    this.#times.dispatched();
    this.#attempts += 1;
    this.context.observers.tell('dispatched', this.spec, dispatch, this.#attempts > 1);
    if (this.#reply.streaming) this.#comment();
    const engine = this.context.fleet.get(dispatch.engine);
    this.#attempt = engine && new Attempt(engine, this.spec, this.context.config, this);
    if (engine === undefined) this.failed(new GatewayError('engine_failed', 'The engine was removed.'), 'unreached');
  }

  rejected(reject: Reject): void {
    if (KEEPS_PLACE.has(reject.refusal)) this.#mayReturn();
    const error = refusalError(reject, this.#failure, this.context.fleet);
    if (this.#state !== 'arriving') return this.#end(outcomeOf(error), undefined, error);
    this.refuse(error);
  }

  refuse(error: GatewayError): void {
    this.#state = 'ended';
    this.#reply.fail(error, this.#headers(error.code));
    this.spec.held.release();
    this.context.observers.tell('refused', this.spec, error.code, this.context.driver.now(), error.message);
  }

  // Events of the attempt.

  began(reader: StreamReader): void {
    this.#state = 'streaming';
    const firstTokenMs = this.#times.began();
    clearInterval(this.#commentTimer);
    this.context.driver.emit({ type: 'callStarted', call: this.spec.id });
    const engine = this.#attempt?.engine;
    engine?.succeeded(this.#program);
    if (engine !== undefined && !isBackground(this.spec)) this.context.observers.tell('began', engine.id, firstTokenMs);
    this.#noteResponse(reader.facts());
  }

  forward(bytes: Buffer): void {
    if (this.#state === 'ended' || this.#attempt === undefined) return;
    const { headers, engine, exchange } = this.#attempt;
    if (!this.#reply.streaming) this.#reply.open(toClient(headers, engine.url, this.#headers()));
    this.#reply.write(bytes, exchange);
  }

  progressed(events: number): void {
    this.context.driver.emit({ type: 'callProgressed', call: this.spec.id, outputTokens: tokens(events) });
  }

  streamed(facts: AnswerFacts): void {
    this.#reply.end();
    this.#finish(facts);
  }

  answered(status: number, headers: IncomingHttpHeaders, body: Buffer, facts: AnswerFacts | undefined): void {
    const attempt = this.#attempt;
    const { api, id, requestId } = this.spec;
    const { streaming } = this.#reply;
    const isGood = status < 400;
    const unread = new GatewayError('engine_answer_invalid', 'The engine answered without a stream.');
    const error = isGood ? (streaming ? unread : undefined) : attempt?.refusal(status, body);
    this.failures.note(this.#dispatch, error, this.#times);
    if (isGood && streaming)
      return this.#end('engine_error', { type: 'callFailed', call: id, failure: 'lost' }, unread);
    if (!streaming) {
      const sent = error === undefined ? { bytes: body, changes: {} } : refusalFor(api, body, error, requestId);
      const theirs = { ...headers, ...sent.changes };
      this.#reply.whole(status, toClient(theirs, attempt?.engine.url, this.#headers()), sent.bytes);
    } else if (error !== undefined) {
      this.#reply.fail(error);
      this.#refusal = status;
    }
    if (facts !== undefined) return this.#finish(facts);
    if (status !== 429 && status < 500) attempt?.engine.responded();
    const outcome = faultOf(`engine_${status}`) === 'client' ? 'client_error' : 'engine_error';
    this.#end(outcome, { type: 'callFailed', call: id, failure: 'refused' });
  }

  busy(status: number, headers: IncomingHttpHeaders, body: Buffer): void {
    const { driver, config } = this.context;
    const now = driver.now();
    const engine = this.#attempt?.engine;
    const restMs = engine?.refused(this.#program, status, retryAfterSeconds(headers['retry-after'], new Date()));
    if (engine !== undefined) this.context.observers.tell('engineFailed', this.spec, engine.id, 'busy');
    const busySinceMs = (this.failures.busySinceMs ??= now);
    if (restMs === undefined || now - busySinceMs > config.timeouts.busyMs)
      return this.answered(status, headers, body, undefined);
    this.failures.note(this.#dispatch, this.#attempt?.refusal(status, body), this.#times);
    this.#queue();
    driver.emit({ type: 'callFailed', call: this.spec.id, failure: 'busy', restMs: millis(restMs) });
  }

  failed(error: GatewayError, fault: Fault): void {
    const call = this.spec.id;
    const { driver, fleet } = this.context;
    // The engine of the attempt, because another one may have its id by now.
    const engine = this.#attempt?.engine;
    const message = error.message.replace(/^The engine (answered with |failed: )?|\.$/g, '');
    if (engine !== undefined) this.context.observers.tell('engineFailed', this.spec, engine.id, fault, message);
    this.failures.note(this.#dispatch, error, this.#times);
    if (fault === 'unreached') engine?.unreached();
    else if (engine !== undefined) {
      this.#doubted.push([engine, engine.evidence.acquittals, error.message]);
      engine.misanswered(this.#program);
    }
    // Another attempt would produce an answer that is too large again.
    if (this.#state === 'streaming' || error.code === 'engine_answer_too_large')
      return this.#end(outcomeOf(error), { type: 'callFailed', call, failure: 'lost' }, error);
    this.#failure = error;
    this.#queue();
    if (fault === 'unreached')
      return driver.emit({ type: 'callFailed', call, failure: 'unreached', restMs: unreachedRestMs() });
    const pause = pauseMs(this.#attempts, fleet.backInMs(this.spec.facts.model));
    driver.emit({ type: 'callFailed', call, failure: 'broken', pauseMs: pause });
  }

  // Steps of the call itself.

  #queue(): void {
    this.#state = 'queued';
    this.#times.waits();
    if (!this.spec.facts.stream) return;
    this.#commentTimer ??= setInterval(() => {
      if (this.#state === 'queued' || this.#reply.streaming) this.#comment();
    }, this.context.config.timeouts.commentMs);
  }

  #comment(): void {
    const text =
      this.#state === 'dispatched' && this.#dispatch !== undefined ? dispatchedComment(this.#dispatch) : this.#queued();
    this.#reply.comment(text, () => this.#headers('queued', this.#expected()));
    this.context.observers.tell('commented');
  }

  #queued(): string {
    const { driver } = this.context;
    const wait = driver.waits().get(this.spec.id);
    return queuedComment(this.#times.ageMs, driver.scheduler.views.waiting, wait, this.#expected(wait));
  }

  #expected(wait = this.context.driver.waits().get(this.spec.id)): ExpectedWait | undefined {
    const { driver } = this.context;
    return wait && driver.expected.of(this.spec.id, wait, driver.now());
  }

  #noteResponse(facts: AnswerFacts, usage?: Usage): void {
    if (facts.responseId !== undefined && this.#dispatch !== undefined)
      this.context.observers.tell('madeResponse', facts.responseId, this.spec, this.#dispatch.engine, usage);
  }

  #finish(facts: AnswerFacts): void {
    const engine = this.#attempt?.engine;
    engine?.succeeded(this.#program);
    for (const [other, ...failed] of this.#doubted) if (other !== engine) other.outdone(this.#program, ...failed);
    const { usageObject } = facts;
    const adapter = usageObject === undefined ? undefined : engine?.adapter;
    const usage = adapter?.readUsage?.(usageObject ?? {}) ?? facts.usage;
    const { serviceMs, queueMs } = adapter?.readTimings?.(usageObject ?? {}) ?? {};
    this.#noteResponse(facts, usage);
    this.context.observers.tell('answered', this.spec, facts, usage);
    const event: Event = {
      type: 'callFinished',
      call: this.spec.id,
      ...(usage !== undefined && { usage }),
      ...(serviceMs !== undefined && { serviceMs: millis(serviceMs) }),
      ...(queueMs !== undefined && { queueMs: millis(queueMs) }),
    };
    this.#end('completed', event, undefined, usage);
  }

  /** A client that leaves while its call is queued has probably lost patience, so it may ask again. */
  #clientGone(): void {
    const reader = this.#state === 'streaming' ? this.#attempt?.reader : undefined;
    // Clients leave at the last event, ahead of the engine's end.
    if (reader?.complete === true) return this.streamed(reader.facts());
    const mayReturn = this.#state === 'queued';
    if (mayReturn) this.#mayReturn();
    const event = { type: 'callCancelled', call: this.spec.id, ...(mayReturn && { mayReturn }) } as const;
    const fault = this.#faultOfLeaving();
    // Only its batch leaves a line.
    const outcome = fault ? outcomeOf(fault) : this.spec.line === undefined ? 'cancelled' : 'recalled';
    this.#end(outcome, event, fault ?? new GatewayError('client_gone', 'The client left.'));
  }

  /** How the call would have failed had its client stayed: no engine could answer it. */
  #faultOfLeaving(): GatewayError | undefined {
    const { driver, observers } = this.context;
    const { id, line } = this.spec;
    if (this.#state === 'queued' && line === undefined && driver.views.causesOf([id]).get(id) === 'no_engine')
      return new GatewayError('no_engine', 'No engine was up until the client left.');
    const engine = this.#hungMs > 0 ? this.#attempt?.engine : undefined;
    if (engine === undefined) return undefined;
    observers.tell('engineFailed', this.spec, engine.id, 'answer', 'down until the client left');
    engine.misanswered(this.#program);
    return new GatewayError('engine_timeout', 'The engine was down until the client left.');
  }

  /** Time for which the engine that has it has been down; 0: it is up, or none has it. */
  get #hungMs(): number {
    const { sinceMs } = (this.isRunning ? this.#attempt?.engine.trouble : undefined) ?? {};
    return sinceMs === undefined ? 0 : this.context.driver.now() - sinceMs;
  }

  /** @param event undefined: the scheduler knows already @param error absent: the client has its answer */
  #end(outcome: Outcome, event: Event | undefined, error?: GatewayError, usage?: Usage): void {
    if (this.#state === 'ended') return;
    const { context } = this;
    const isAnswered = error === undefined && (this.#refusal ?? this.#reply.status) < 500;
    const hungMs = isAnswered ? 0 : this.#hungMs;
    this.#state = 'ended';
    clearInterval(this.#commentTimer);
    this.#attempt?.abort();
    if (event !== undefined) context.driver.emit(event);
    if (error !== undefined) this.#reply.fail(error, this.#headers(error.code), this.#attempt?.reader);
    const figures = this.#times.figures(this.#dispatch);
    const report: CallReport = {
      outcome,
      status: this.#reply.status,
      refusal: this.#refusal,
      code: error?.code,
      message: error?.message,
      dispatch: this.#dispatch,
      attempts: this.#attempts,
      failures: this.failures.last,
      waits: context.driver.causes.take(this.spec.id),
      ...figures,
      // It may have come there after the engine's last sign of life.
      hungMs: Math.min(hungMs, figures.serviceMs ?? 0),
      usage,
    };
    this.spec.held.release();
    context.observers.tell('ended', this, report, context.driver.now());
    // A call that no engine has may come again. A line without an answer does, or ends with its batch.
    const isOver = isAnswered || (figures.wasRunning && this.spec.line === undefined);
    if (this.spec.identity.final && isOver) endProgram(context, this.#program);
  }

  /** The call left the queue unserved, and its client may ask again. */
  #mayReturn(): void {
    const { tenant, fingerprint, identity } = this.spec;
    this.context.returning.expect(tenant, fingerprint, identity, this.context.config.timeouts.ghostMs);
  }

  #headers(reason?: string, expected?: ExpectedWait): OutgoingHttpHeaders {
    return callHeaders(this.context, this.spec, this.#dispatch, this.#times.queueMs(this.#dispatch), reason, expected);
  }
}
