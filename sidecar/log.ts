import pino, { type Logger } from 'pino';
import type { CallReport, CallSpec } from './calls/ports.js';
import type { Config } from './config/schema.js';

/** Lines are written together when there is this much of them, or this much later. */
const WRITE_BYTES = 65_536;
const WRITE_MS = 100;

/** JSON lines on standard output, written without holding up calls. */
export function makeLog(config: Config): Logger {
  const batches = { minLength: WRITE_BYTES, maxWrite: 2 * WRITE_BYTES, periodicFlush: WRITE_MS };
  const destination = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', ...batches });
  return pino({ level: config.log.level, hooks: { streamWrite: asBytes } }, destination);
}

/**
 * A batch of strings is measured anew, whole, with every line that joins it, which costs more than the line; a batch of
 * buffers is not. The types know only strings.
 */
const asBytes = (line: string): string => Buffer.from(line) as unknown as string;

/** The one line a call: who, where, how long and how it ended, and never a word of its prompt or answer. */
export function logCall(log: Logger, spec: CallSpec, report: CallReport): void {
  if (!log.isLevelEnabled('info')) return;
  const { identity, facts } = spec;
  const { dispatch, usage } = report;
  log.info(
    {
      request_id: spec.requestId,
      call: spec.id,
      program: identity.label,
      thread: identity.thread === '' ? undefined : identity.thread,
      identified_by: identity.source,
      tenant: spec.tenant,
      api: spec.api.kind,
      model: facts.model,
      stream: facts.stream,
      engine: dispatch?.engine,
      // Not `level`: that is the line's own.
      queue_level: dispatch?.level,
      reason: dispatch?.reason,
      placement: dispatch?.placement,
      attempts: report.attempts,
      queue_ms: Math.round(report.queueMs),
      ttft_ms: report.ttftMs === undefined ? undefined : Math.round(report.ttftMs),
      duration_ms: Math.round(report.durationMs),
      prompt_tokens: usage?.promptTokens,
      cached_tokens: usage?.cachedTokens,
      output_tokens: usage?.outputTokens,
      status: report.status,
      code: report.code,
      outcome: report.outcome,
    },
    'call',
  );
}
