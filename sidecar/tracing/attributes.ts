import type { Attributes } from '@opentelemetry/api';
import type { ApiKind } from '../apis/api.js';
import type { CallReport, CallSpec } from '../calls/spec.js';
import type { Engine } from '../engines/index.js';
import { ERRORS, type ErrorCode } from '../errors.js';

/**
 * Attributes of a call's span. Names are those of OpenTelemetry's conventions for generative AI where these have one.
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */

/** `gen_ai.operation.name` of each API. */
export const OPERATIONS: Readonly<Record<ApiKind, string>> = {
  chat: 'chat',
  completions: 'text_completion',
  responses: 'chat',
  messages: 'chat',
  count_tokens: 'count_tokens',
  embeddings: 'embeddings',
};

export const requestAttributes = (
  { id, requestId, tenant, identity, facts }: CallSpec,
  operation: string,
): Attributes => ({
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
export function reportAttributes(report: CallReport, engine: Engine | undefined): Attributes {
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

export const refusalAttributes = (code: ErrorCode): Attributes => ({
  'http.response.status_code': ERRORS[code].status,
  'maitred.outcome': 'refused',
  'error.type': code,
});

/** Our own code, or the engine's status; an engine may also report its failure inside a stream. */
export const errorType = ({ outcome, code, status }: CallReport): string | undefined =>
  outcome === 'completed' ? undefined : (code ?? (status >= 400 ? String(status) : outcome));
