import type { ActiveCall, PastCall } from '../sidecar/admin/answers.js';

/** A call as it is drawn; one that has not ended is drawn as if it ended now. */
export type Drawn = Pick<
  PastCall,
  | 'call'
  | 'thread'
  | 'text'
  | 'arrived_at'
  | 'duration_seconds'
  | 'hung_seconds'
  | 'service_seconds'
  | 'first_token_seconds'
  | 'failures'
> &
  Partial<Pick<PastCall, 'outcome'>>;

export const endOf = ({ arrived_at: arrived, duration_seconds: took }: Drawn): number => arrived + took;

export const asPast = (call: ActiveCall): Drawn => ({
  ...call,
  duration_seconds: call.failures.reduce(
    (sum, { began_at: from, failed_at: to }) => sum + to - from,
    call.waiting_seconds + call.service_seconds,
  ),
  service_seconds: call.state === 'running' ? call.service_seconds : null,
  first_token_seconds: call.first_token_at === null ? null : call.first_token_at - call.arrived_at,
});

/** A thread's calls in as few lanes as hold them without overlaps: a thread may make several calls at once. */
export function sideBySide(calls: readonly Drawn[]): Drawn[][] {
  const lanes: Drawn[][] = [];
  for (const call of calls.toSorted((a, b) => a.arrived_at - b.arrived_at)) {
    const free = lanes.find((lane) => lane.every((other) => endOf(other) <= call.arrived_at));
    if (free === undefined) lanes.push([call]);
    else free.push(call);
  }
  return lanes;
}

/** The parts of a call: attempts that failed, each after a wait, then the one that ran at its end, up to where it, or its engine, failed. Times are Unix times in seconds. */
export function partsOf(call: Drawn) {
  const { arrived_at: arrived, service_seconds: service, first_token_seconds: first } = call;
  const ended = endOf(call);
  const sent = ended - (service ?? 0);
  // The last one may have failed, too.
  const failed = call.failures.filter(({ began_at: from, failed_at: to }) => service === null || from + to < 2 * sent);
  const isLost = first === null && ['engine_error', 'timed_out'].includes(call.outcome ?? '');
  const well = Math.max(sent, ended - (call.hung_seconds || (isLost ? (service ?? 0) : 0)));
  const began = first === null ? sent : Math.min(well, Math.max(sent, arrived + first));
  const tries = failed.flatMap(({ began_at: from, failed_at: to }, at) => [
    ['queued', failed[at - 1]?.failed_at ?? arrived, from] as const,
    ['failed', from, to] as const,
  ]);
  const parts = [
    ...tries,
    ['queued', failed.at(-1)?.failed_at ?? arrived, sent],
    ['prefill', sent, began],
    [first === null ? 'run' : 'decode', began, well],
    ['failed', well, ended],
  ] as const;
  return parts.filter(([, from, to]) => to > from);
}
