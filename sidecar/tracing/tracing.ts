import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as api,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { BasicTracerProvider, ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { Dispatch, EngineId, ProgramGone, ProgramId, TenantId } from '../../src/index.js';
import type { ApiKind } from '../apis/api.js';
import type { Observer } from '../calls/observers.js';
import type { CallHandle, CallReport, CallSpec, CallTrace, FailureCause } from '../calls/spec.js';
import type { Engine, Fleet } from '../engines/index.js';
import { ERRORS, type ErrorCode } from '../errors.js';
import { readTraceparent } from '../http/headers.js';
import type { Identity } from '../identity/identity.js';
import type { Metrics } from '../metrics/metrics.js';
import { VERSION } from '../version.js';
import { wallMs } from '../watch/wall-clock.js';
import { Collector } from './collector.js';

/** A program with its own span: one of its calls came without a trace. */
interface ProgramTrace {
  readonly span: Span;
  readonly tenant: TenantId;
  readonly label: string;
  /** By `performance.now()`. */
  endedMs: number;
  calls: number;
}

interface TracingOptions {
  readonly url: string;
  readonly sampleShare: number;
  readonly programsMax: number;
  readonly fleet: Pick<Fleet, 'get'>;
  readonly hasProgram: (program: ProgramId) => boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/**
 * OpenTelemetry traces: a span for each call, never a word of its prompt or answer.
 *
 * A call with a `traceparent` is a child of its client's span. The others are children of their program's span, which is
 * sent when the program leaves: its ids are chosen with its first call, so its children need not wait for it.
 */
export class Tracing implements Observer {
  readonly #collector: Collector;
  readonly #tracer: Tracer;
  readonly #programs = new Map<ProgramId, ProgramTrace>();

  constructor(private readonly options: TracingOptions) {
    const collector = (this.#collector = new Collector(options.url, options.metrics, options.log));
    const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleShare) });
    const { resource } = collector;
    const provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [collector] });
    this.#tracer = provider.getTracer('maitred', VERSION);
  }

  /** The trace of a new call; undefined if its client has decided against one. Then its header is forwarded unchanged. */
  begin(tenant: TenantId, identity: Identity, headers: IncomingHttpHeaders): CallTrace | undefined {
    const header = headers['traceparent'];
    const remote = readTraceparent(typeof header === 'string' ? header : undefined);
    if (remote?.sampled === false) return undefined;
    const startedMs = performance.now();
    const parent =
      remote === undefined
        ? this.#programOf(identity, tenant)
        : { ...remote, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const within = api.setSpanContext(ROOT_CONTEXT, parent);
    const span = this.#tracer.startSpan('call', { kind: SpanKind.CLIENT, startTime: wallMs(startedMs) }, within);
    const { traceId, spanId } = span.spanContext();
    const traceparent = `00-${traceId}-${spanId}-${span.isRecording() ? '01' : '00'}`;
    return { span, startedMs, traceparent, isNew: remote === undefined, attempts: 0, dispatchedMs: startedMs };
  }

  dispatched({ trace }: CallSpec, { engine, reason }: Dispatch): void {
    if (trace === undefined) return;
    if (trace.attempts === 0 && reason !== 'direct') trace.span.addEvent('maitred.queued', {}, wallMs(trace.startedMs));
    trace.attempts += 1;
    trace.dispatchedMs = performance.now();
    const attributes = { 'maitred.attempt': trace.attempts, 'maitred.engine': engine };
    trace.span.addEvent('maitred.dispatched', attributes, wallMs(trace.dispatchedMs));
  }

  engineFailed({ trace }: CallSpec, engine: EngineId, cause: FailureCause): void {
    trace?.span.addEvent('maitred.sent_back', { 'maitred.engine': engine, 'maitred.cause': cause }, wallMs());
  }

  ended({ spec }: CallHandle, report: CallReport): void {
    const { trace } = spec;
    const known = this.#programs.get(spec.identity.program);
    if (known !== undefined) known.endedMs = performance.now();
    if (trace?.span.isRecording() !== true) return;
    const { ttftMs, dispatch } = report;
    // The time to first token counts from the call's arrival in the scheduler, a little after its trace began.
    const firstMs = Math.max(trace.dispatchedMs, trace.startedMs + (ttftMs ?? 0));
    if (ttftMs !== undefined) trace.span.addEvent('maitred.first_token', {}, wallMs(firstMs));
    // A client that leaves is no fault of the call.
    const error = ['cancelled', 'recalled'].includes(report.outcome) ? undefined : errorType(report);
    this.#send(spec, trace, reportAttributes(report, dispatch && this.options.fleet.get(dispatch.engine)), error);
  }

  refused(spec: CallSpec, code: ErrorCode): void {
    const { status } = ERRORS[code];
    const attributes = { 'http.response.status_code': status, 'maitred.outcome': 'refused', 'error.type': code };
    if (spec.trace?.span.isRecording() === true) this.#send(spec, spec.trace, attributes, code);
    const { program } = spec.identity;
    if (!this.options.hasProgram(program)) this.#programOver(program, 'refused');
  }

  /** Running calls may still end after the program's span. */
  programEnded(program: ProgramId): void {
    this.#programOver(program, 'ended');
  }

  programGone({ program, cause }: ProgramGone): void {
    // An ended program was reported when it ended, because its id may be in use again by now.
    if (cause !== 'ended') this.#programOver(program, cause);
  }

  #programOver(program: ProgramId, cause: ProgramGone['cause'] | 'refused' | 'shutdown'): void {
    const trace = this.#programs.get(program);
    if (trace === undefined) return;
    this.#programs.delete(program);
    const attributes = {
      'gen_ai.conversation.id': trace.label,
      'maitred.program': trace.label,
      'maitred.tenant': trace.tenant,
      'maitred.calls': trace.calls,
      'maitred.cause': cause,
    };
    trace.span.setAttributes(attributes).end(wallMs(trace.endedMs));
  }

  /** Ends the spans of programs that are still known, and sends the rest for at most `ms` milliseconds. */
  close(ms: number): Promise<void> {
    for (const program of [...this.#programs.keys()]) this.#programOver(program, 'shutdown');
    return this.#collector.close(ms);
  }

  #send(spec: CallSpec, { span }: CallTrace, attributes: Attributes, error: string | undefined): void {
    const operation = OPERATIONS[spec.api.kind] ?? 'chat';
    span.updateName(`${operation} ${spec.facts.model}`);
    span.setAttributes({ ...requestAttributes(spec, operation), ...attributes });
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(wallMs());
  }

  #programOf({ program, label }: Identity, tenant: TenantId) {
    let trace = this.#programs.get(program);
    if (trace === undefined) {
      const oldest = this.#programs.keys().next().value;
      if (oldest !== undefined && this.#programs.size >= this.options.programsMax) this.#programOver(oldest, 'evicted');
      const endedMs = performance.now();
      const span = this.#tracer.startSpan('program', { root: true, startTime: wallMs(endedMs) }, ROOT_CONTEXT);
      trace = { span, tenant, label, endedMs, calls: 0 };
      this.#programs.set(program, trace);
    }
    trace.calls += 1;
    return trace.span.spanContext();
  }
}

// Names of attributes: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/

/** `gen_ai.operation.name` of each API that is no chat. */
const OPERATIONS: Partial<Readonly<Record<ApiKind, string>>> = {
  completions: 'text_completion',
  count_tokens: 'count_tokens',
  embeddings: 'embeddings',
};

const requestAttributes = ({ id, requestId, tenant, identity, facts }: CallSpec, operation: string): Attributes => ({
  'gen_ai.operation.name': operation,
  'gen_ai.request.model': facts.model,
  'gen_ai.conversation.id': identity.label,
  'gen_ai.request.stream': facts.stream || undefined,
  'gen_ai.request.max_tokens': facts.maxTokens,
  'maitred.program': identity.label,
  'maitred.identified_by': identity.source,
  'maitred.tenant': tenant,
  'maitred.call': id,
  'maitred.request_id': requestId,
  'maitred.thread': identity.thread || undefined,
});

/** @param engine the engine of the last attempt; undefined: none, or removed */
function reportAttributes(report: CallReport, engine: Engine | undefined): Attributes {
  const { dispatch, usage, ttftMs } = report;
  return {
    'http.response.status_code': report.status,
    'error.type': errorType(report),
    'maitred.outcome': report.outcome,
    'maitred.attempts': report.attempts,
    'maitred.queue_ms': report.queueMs,
    'maitred.engine': dispatch?.engine,
    'maitred.level': dispatch?.level,
    'maitred.reason': dispatch?.reason,
    'maitred.placement': dispatch?.placement,
    ...(engine !== undefined && {
      'gen_ai.provider.name': engine.adapter.kind,
      'server.address': engine.url.hostname.replace(/^\[|\]$/g, ''),
      'server.port': Number(engine.url.port) || (engine.url.protocol === 'https:' ? 443 : 80),
    }),
    'gen_ai.usage.input_tokens': usage?.promptTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
    'gen_ai.response.time_to_first_chunk': ttftMs === undefined ? undefined : ttftMs / 1000,
  };
}

/** Our own code, or the engine's status; an engine may also report its failure inside a stream. */
const errorType = ({ outcome, code, status, refusal = status }: CallReport): string | undefined =>
  outcome === 'completed' ? undefined : (code ?? (refusal >= 400 ? String(refusal) : outcome));
