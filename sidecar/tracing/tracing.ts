import { SpanKind, TraceFlags, type Attributes, type SpanContext } from '@opentelemetry/api';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { Dispatch, EngineId, ProgramGone, ProgramId, TenantId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallHandle, CallReport, CallSpec, FailureCause } from '../calls/spec.js';
import type { Fleet } from '../engines/index.js';
import type { ErrorCode } from '../errors.js';
import { readTraceparent } from '../http/headers.js';
import type { Identity } from '../identity/identity.js';
import type { Metrics } from '../metrics/metrics.js';
import { WallClock } from '../watch/wall-clock.js';
import { OPERATIONS, errorType, refusalAttributes, reportAttributes, requestAttributes } from './attributes.js';
import { CallTrace } from './call-trace.js';
import { Collector } from './collector.js';
import { hrTime, type SpanEvent } from './span.js';

/** A program with its own span: one of its calls came without a trace. Times are of `performance.now()`. */
interface ProgramTrace {
  readonly context: SpanContext;
  readonly tenant: TenantId;
  readonly label: string;
  readonly startedMs: number;
  endedMs: number;
  calls: number;
}

interface TracingOptions {
  readonly url: string;
  /** Share of the programs that are traced. */
  readonly sampleShare: number;
  /** Most programs to remember. */
  readonly programsMax: number;
  readonly fleet: Pick<Fleet, 'get'>;
  /** Whether the scheduler has a row of the program. */
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
  readonly #clock = new WallClock();
  readonly #ids = new RandomIdGenerator();
  readonly #programs = new Map<ProgramId, ProgramTrace>();

  constructor(private readonly options: TracingOptions) {
    this.#collector = new Collector(options.url, options.metrics, options.log);
  }

  /** The trace of a new call; undefined if its client has decided against one. Then its header is forwarded unchanged. */
  begin(tenant: TenantId, { program, label }: Identity, headers: IncomingHttpHeaders): CallTrace | undefined {
    const header = headers['traceparent'];
    const remote = readTraceparent(typeof header === 'string' ? header : undefined);
    if (remote?.sampled === false) return undefined;
    const { traceId, spanId, traceFlags } =
      remote === undefined ? this.#programOf(program, tenant, label) : { ...remote, traceFlags: TraceFlags.SAMPLED };
    return new CallTrace({ traceId, spanId, traceFlags, isRemote: remote !== undefined }, this.#ids.generateSpanId());
  }

  dispatched({ trace }: CallSpec, dispatch: Dispatch): void {
    trace?.dispatched(dispatch);
  }

  engineFailed({ trace }: CallSpec, engine: EngineId, cause: FailureCause): void {
    trace?.sentBack(engine, cause);
  }

  ended({ spec }: CallHandle, report: CallReport): void {
    const { trace } = spec;
    const known = this.#programs.get(spec.identity.program);
    if (known !== undefined) known.endedMs = performance.now();
    if (trace?.isSampled !== true) return;
    const engine = report.dispatch && this.options.fleet.get(report.dispatch.engine);
    const { events, startedMs } = trace;
    const { ttftMs } = report;
    const marks = ttftMs === undefined ? events : [...events, { name: 'maitred.first_token', ms: startedMs + ttftMs }];
    // A client that leaves is no fault of the call.
    const error = report.outcome === 'cancelled' ? undefined : errorType(report);
    this.#send(spec, trace, reportAttributes(report, engine), marks, error);
  }

  refused(spec: CallSpec, code: ErrorCode): void {
    if (spec.trace?.isSampled === true) this.#send(spec, spec.trace, refusalAttributes(code), spec.trace.events, code);
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
    if ((trace.context.traceFlags & TraceFlags.SAMPLED) === 0) return;
    this.#clock.adjust();
    this.#collector.take({
      name: 'program',
      kind: SpanKind.INTERNAL,
      context: trace.context,
      parent: undefined,
      startTime: hrTime(this.#clock.at(trace.startedMs)),
      endTime: hrTime(this.#clock.at(trace.endedMs)),
      attributes: {
        'gen_ai.conversation.id': trace.label,
        'maitred.program': trace.label,
        'maitred.tenant': trace.tenant,
        'maitred.calls': trace.calls,
        'maitred.cause': cause,
      },
      events: [],
    });
  }

  /** Ends the spans of programs that are still known, and sends the rest for at most `ms` milliseconds. */
  close(ms: number): Promise<void> {
    for (const program of [...this.#programs.keys()]) this.#programOver(program, 'shutdown');
    return this.#collector.close(ms);
  }

  #send(
    spec: CallSpec,
    trace: CallTrace,
    attributes: Attributes,
    marks: CallTrace['events'],
    error: string | undefined,
  ): void {
    this.#clock.adjust();
    const operation = OPERATIONS[spec.api.kind];
    this.#collector.take({
      name: `${operation} ${spec.facts.model}`,
      kind: SpanKind.CLIENT,
      context: { traceId: trace.parent.traceId, spanId: trace.spanId, traceFlags: trace.parent.traceFlags },
      parent: trace.parent,
      startTime: hrTime(this.#clock.at(trace.startedMs)),
      endTime: hrTime(this.#clock.at(performance.now())),
      attributes: Object.assign(requestAttributes(spec, operation), attributes),
      events: marks.map(({ ms, ...event }): SpanEvent => ({ ...event, time: hrTime(this.#clock.at(ms)) })),
      error,
    });
  }

  #programOf(program: ProgramId, tenant: TenantId, label: string): SpanContext {
    let trace = this.#programs.get(program);
    if (trace === undefined) {
      const oldest = this.#programs.keys().next().value;
      if (oldest !== undefined && this.#programs.size >= this.options.programsMax) this.#programOver(oldest, 'evicted');
      const isSampled = Math.random() < this.options.sampleShare;
      const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
      const startedMs = performance.now();
      const context = { traceId: this.#ids.generateTraceId(), spanId: this.#ids.generateSpanId(), traceFlags };
      trace = { context, tenant, label, startedMs, endedMs: startedMs, calls: 0 };
      this.#programs.set(program, trace);
    }
    trace.calls += 1;
    return trace.context;
  }
}
