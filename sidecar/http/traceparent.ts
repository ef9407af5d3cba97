/** Reads and writes the `traceparent` header. Source: https://www.w3.org/TR/trace-context/ */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Later versions may append fields to those of version 00. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function readTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (parseInt(flags ?? '', 16) & 1) === 1 };
}

export const writeTraceparent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
