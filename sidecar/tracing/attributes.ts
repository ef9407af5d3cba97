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

export function requestAttributes({ id, requestId, tenant, identity, facts }: CallSpec, operation: string) {
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': facts.model,
    'gen_ai.conversation.id': identity.label,
    'maitred.program': identity.label,
    'maitred.identified_by': identity.source,
    'maitred.tenant': tenant,
    'maitred.call': id,
    'maitred.request_id': requestId,
  };
  if (facts.stream) attributes['gen_ai.request.stream'] = true;
  if (facts.maxTokens !== undefined) attributes['gen_ai.request.max_tokens'] = facts.maxTokens;
  if (identity.thread !== '') attributes['maitred.thread'] = identity.thread;
  return attributes;
}

/** @param engine the engine of the last attempt; undefined: none, or removed */
export function reportAttributes(report: CallReport, engine: Engine | undefined): Attributes {
  const { dispatch, usage, ttftMs } = report;
  const error = errorType(report);
  const attributes: Attributes = {
    'http.response.status_code': report.status,
    'maitred.outcome': report.outcome,
    'maitred.attempts': report.attempts,
    'maitred.queue_ms': report.queueMs,
  };
  if (dispatch !== undefined) {
    attributes['maitred.engine'] = dispatch.engine;
    attributes['maitred.level'] = dispatch.level;
    attributes['maitred.reason'] = dispatch.reason;
    attributes['maitred.placement'] = dispatch.placement;
  }
  if (engine !== undefined) {
    attributes['gen_ai.provider.name'] = engine.adapter.kind;
    attributes['server.address'] = engine.url.hostname.replace(/^\[|\]$/g, '');
    attributes['server.port'] = Number(engine.url.port) || (engine.url.protocol === 'https:' ? 443 : 80);
  }
  if (usage !== undefined) {
    attributes['gen_ai.usage.input_tokens'] = usage.promptTokens;
    attributes['gen_ai.usage.output_tokens'] = usage.outputTokens;
    if (usage.cachedTokens !== undefined) attributes['gen_ai.usage.cache_read.input_tokens'] = usage.cachedTokens;
  }
  if (ttftMs !== undefined) attributes['gen_ai.response.time_to_first_chunk'] = ttftMs / 1000;
  if (error !== undefined) attributes['error.type'] = error;
  return attributes;
}

export const refusalAttributes = (code: ErrorCode): Attributes => ({
  'http.response.status_code': ERRORS[code].status,
  'maitred.outcome': 'refused',
  'error.type': code,
});

/** Our own code, or the engine's status; an engine may also report its failure inside a stream. */
export function errorType({ outcome, code, status }: CallReport): string | undefined {
  return outcome === 'completed' ? undefined : (code ?? (status >= 400 ? String(status) : outcome));
}
