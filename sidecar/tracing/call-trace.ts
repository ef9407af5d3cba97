import { TraceFlags, type Attributes, type SpanContext } from '@opentelemetry/api';
import type { Dispatch, EngineId } from '../../src/index.js';
import { writeTraceparent } from '../http/headers.js';

/** Most events of one call's span; an attempt takes two. */
const EVENTS_MAX = 64;

/** The trace of one call, from its arrival. Times are of `performance.now()`. */
export class CallTrace {
  readonly startedMs = performance.now();
  readonly events: { readonly name: string; readonly ms: number; readonly attributes?: Attributes }[] = [];
  #attempts = 0;

  /** @param parent span of the client or of the program */
  constructor(
    readonly parent: SpanContext,
    readonly spanId: string,
  ) {}

  get isSampled(): boolean {
    return (this.parent.traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  /** Names the call's span as the parent of the engine's own. */
  get traceparent(): string {
    return writeTraceparent({ traceId: this.parent.traceId, spanId: this.spanId, sampled: this.isSampled });
  }

  /** Whether the trace began here. Then a `tracestate` of the client belongs to none. */
  get isNew(): boolean {
    return this.parent.isRemote !== true;
  }

  dispatched({ engine, reason }: Dispatch): void {
    if (this.#attempts === 0 && reason !== 'direct') this.#add('maitred.queued', this.startedMs);
    this.#attempts += 1;
    this.#add('maitred.dispatched', performance.now(), { 'maitred.attempt': this.#attempts, 'maitred.engine': engine });
  }

  /** The engine failed the call or had no room. */
  sentBack(engine: EngineId, cause: string): void {
    this.#add('maitred.sent_back', performance.now(), { 'maitred.engine': engine, 'maitred.cause': cause });
  }

  #add(name: string, ms: number, attributes: Attributes = {}): void {
    if (this.isSampled && this.events.length < EVENTS_MAX) this.events.push({ name, ms, attributes });
  }
}
