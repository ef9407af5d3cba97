import { SpanStatusCode, type Attributes, type HrTime, type SpanContext, type SpanKind } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { VERSION } from '../version.js';

const SCOPE = { name: 'maitred', version: VERSION };
const NONE: never[] = [];

export interface SpanEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes?: Attributes;
}

/** The parts of a span that differ from one to the next. */
export interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly attributes: Attributes;
  readonly events: SpanEvent[];
  /** The error; absent: none, or the client left. */
  readonly error?: string | undefined;
}

/** A span that has ended. The SDK's own spans would cost a call several times as much, for features not used here. */
export const endedSpan = ({ context, parent, error, ...facts }: SpanFacts, resource: Resource): ReadableSpan => ({
  ...facts,
  ...(parent !== undefined && { parentSpanContext: parent }),
  resource,
  spanContext: () => context,
  // OTLP has the start and the end.
  duration: [0, 0],
  status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
  links: NONE,
  ended: true,
  instrumentationScope: SCOPE,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
});

export function hrTime(unixMs: number): HrTime {
  const seconds = Math.floor(unixMs / 1000);
  return [seconds, Math.floor((unixMs - seconds * 1000) * 1e6)];
}
