import type { CallView, ProgramId, WaitView } from '../../src/index.js';
import type { FailedAttempt } from '../calls/active.js';
import type { Parts } from '../context.js';
import type { ExpectedWait } from '../watch/expected-waits.js';
import type { PastCall } from '../watch/past-calls.js';
import type * as Answers from './answers.js';
import { seconds, secondsOr, unixSeconds } from './figures.js';
import { pastCallInWords } from './run-words.js';
import { callInWords, type Setting } from './words.js';

export function callRow(call: CallView, thread: string, setting: Setting): Answers.ActiveCall {
  const { waiting } = call;
  return {
    call: call.call,
    thread,
    state: call.state,
    level: call.level,
    model: call.model,
    engine: call.engine ?? null,
    waiting_seconds: seconds(call.waitingMs),
    service_seconds: seconds(call.serviceMs),
    hung_seconds: seconds(Math.min(call.serviceMs, setting.troubleAt(call.engine ?? '')?.downMs ?? 0)),
    arrived_at: unixSeconds(call.arrivedAtMs),
    first_token_at: call.startedAtMs === undefined ? null : unixSeconds(call.startedAtMs),
    waiting_for:
      waiting === undefined
        ? null
        : waitRow(waiting.nearest, setting.expected.of(call.call, waiting.nearest, setting.now)),
    failures: (setting.failures(call.call)?.last ?? []).map(attemptRow),
    text: callInWords(call, setting),
  };
}

/** The latest calls of programs, which may have left the process table. */
export function pastCalls(context: Parts, ...programs: readonly ProgramId[]): Answers.PastCallList {
  const { balancerName } = context.driver.views;
  const calls = programs.flatMap((program) => context.pastCalls.of(program));
  return { calls: calls.map((call) => pastCallRow(call, balancerName)) };
}

/** @param balancer in whose words its text is */
export function pastCallRow(past: PastCall, balancer: string): Answers.PastCall {
  const { call, thread, model, isBackground, endedAtMs, report } = past;
  const { dispatch, usage } = report;
  const inheritedMs = dispatch?.inheritedMs ?? 0;
  const ownMs = Math.max(0, report.queueMs - inheritedMs);
  const seenMs = [...report.waits.values()].reduce((sum, ms) => sum + ms, 0);
  const row = {
    call,
    thread,
    model,
    background: isBackground,
    outcome: report.outcome,
    status: report.status,
    code: report.code ?? null,
    arrived_at: unixSeconds(endedAtMs - report.durationMs),
    duration_seconds: seconds(report.durationMs),
    hung_seconds: seconds(report.hungMs),
    queue_seconds: seconds(ownMs),
    waited_for: Object.fromEntries([...report.waits].map(([cause, ms]) => [cause, seconds((ownMs * ms) / seenMs)])),
    inherited_seconds: seconds(inheritedMs),
    first_token_seconds: secondsOr(report.ttftMs),
    service_seconds: report.wasRunning ? secondsOr(report.serviceMs) : null,
    attempts: report.attempts,
    failures: report.failures.map(attemptRow),
    message: report.message ?? null,
    engine: dispatch?.engine ?? null,
    level: dispatch?.level ?? null,
    reason: dispatch?.reason ?? null,
    placement: dispatch?.placement ?? null,
    prompt_tokens: usage?.promptTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
  };
  return { ...row, text: pastCallInWords(row, dispatch, balancer) };
}

const attemptRow = ({ engine, message, fromMs, atMs }: FailedAttempt) => ({
  engine,
  message,
  began_at: unixSeconds(fromMs),
  failed_at: unixSeconds(atMs),
});

const waitRow = ({ cause, engine, needs, free, limit, behind, ahead }: WaitView, expected?: ExpectedWait) => ({
  cause,
  engine: engine ?? null,
  needs: needs ?? null,
  free: free ?? null,
  limit: limit ?? null,
  behind: behind ? { call: behind.call, program: behind.program, waiting_seconds: seconds(behind.waitingMs) } : null,
  ahead,
  expected_seconds: secondsOr(expected?.p50Ms),
  expected_p90_seconds: secondsOr(expected?.p90Ms),
});
