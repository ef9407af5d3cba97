import type { IncomingHttpHeaders } from 'node:http';
import { percentDecoded } from '../http/target.js';
import { readTraceparent } from '../http/traceparent.js';
import { claimOf, valueOf } from './harnesses.js';
import type { Claim } from './identity.js';

/**
 * Identity from W3C's tracing headers. Sources: https://www.w3.org/TR/baggage/ and https://www.w3.org/TR/trace-context/
 */
const BAGGAGE_KEYS = ['session.id', 'gen_ai.conversation.id'];

export function baggageClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const entries = Object.fromEntries(readBaggage(valueOf(headers, 'baggage') ?? ''));
  const claim = claimOf(entries, { session: BAGGAGE_KEYS });
  return claim && { ...claim, source: `baggage ${claim.source}` };
}

/** The first value of each key, percent-decoded; malformed members are skipped. */
function readBaggage(header: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const member of header.split(',')) {
    const [pair = ''] = member.split(';', 1);
    const equals = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, equals)).trim();
    const value = percentDecoded(pair.slice(equals + 1).trim());
    if (key !== '' && value !== undefined && !entries.has(key)) entries.set(key, value);
  }
  return entries;
}

/** Treats a trace as a program. That holds for tracers with one trace per run, so this source is off by default. */
export function traceparentClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const trace = readTraceparent(valueOf(headers, 'traceparent'));
  return trace && { id: trace.traceId, source: 'traceparent' };
}
