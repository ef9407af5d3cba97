import pino, { type Logger } from 'pino';
import type { Millis } from '../src/index.js';
import type { Observer } from './calls/observers.js';
import type { CallHandle, CallReport, CallSpec } from './calls/spec.js';
import type { Config } from './config/index.js';
import type { ErrorCode } from './errors.js';
import { readable } from './readable-log.js';
import { isBackground } from './watch/known-programs.js';
import { faultIn, faultOf } from './watch/totals.js';

/** Bytes of lines, or time, after which the lines are written together. */
const WRITE_BYTES = 65_536;
const WRITE_MS = 100;

/** Bytes of lines held while a full disk takes none; further ones are lost. */
const HELD_BYTES_MAX = 2 ** 24;

/** Lines on standard output, written without blocking calls: JSON, or for people if it is a terminal. */
export function makeLog(config: Config): Logger {
  const batches = {
    minLength: WRITE_BYTES,
    maxWrite: 2 * WRITE_BYTES,
    periodicFlush: WRITE_MS,
    maxLength: HELD_BYTES_MAX,
  };
  const destination = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', ...batches });
  let isTold = false;
  // Without a listener the process would end, and all of its calls. The lines are written again with the next ones.
  destination.on('error', ({ message }: Error) => {
    if (!isTold) process.stderr.write(`maitred: the log cannot be written, calls go on: ${message}\n`);
    isTold = true;
    // At the exit it would be repeated until the disk has room.
    destination.flushSync = () => undefined;
  });
  const streamWrite = process.stdout.isTTY ? (line: string) => asBytes(readable(line)) : asBytes;
  return pino({ level: config.log.level, hooks: { streamWrite } }, destination);
}

/** As buffers, though pino's types allow only strings: these are measured anew with every line of their batch. */
const asBytes = (line: string): string => Buffer.from(line) as unknown as string;

/** Logs one line per call: its program, place, times and end, never a word of its prompt or answer. */
export class CallLog implements Observer {
  constructor(private readonly log: Logger) {}

  refused({ requestId, id, tenant }: CallSpec, code: ErrorCode, _: Millis, message: string): void {
    tellFailure(this.log, { request_id: requestId, call: id, tenant }, { code, message });
  }

  ended({ spec }: CallHandle, report: CallReport): void {
    const code = faultIn(report);
    if (code !== undefined) {
      // The gateway's own words tell no more than the engine's, except where no engine was up.
      const { message = report.message } = (code !== 'no_engine' && report.failures.at(-1)) || {};
      tellFailure(this.log, lineOf(spec, report), { code, message }, 'call');
    } else if (this.log.isLevelEnabled('info')) this.log.info(lineOf(spec, report), 'call');
  }
}

/** A failure that is no fault of the client is a warning, and has its reason; that of a client might quote its prompt. */
export function tellFailure(
  log: Logger,
  fields: object,
  error: { readonly code: string; readonly message: string | undefined },
  what = 'refused',
) {
  const { code, message } = error;
  if (faultOf(code) === 'client') log.info({ ...fields, code }, what);
  else log.warn({ ...fields, code, message }, what);
}

function lineOf(spec: CallSpec, report: CallReport): Record<string, unknown> {
  const { identity, facts } = spec;
  const { dispatch, usage } = report;
  return {
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
    // Not `level`, which is the line's own field.
    queue_level: isBackground(spec) ? undefined : dispatch?.level,
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
    outcome: report.outcome,
  };
}
