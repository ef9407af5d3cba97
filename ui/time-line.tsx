import { Fragment } from 'preact';
import type { ActiveCall, PastCall } from '../sidecar/admin/answers.js';
import { clock, duration } from './format.js';
import { Whole } from './names.js';

const NAMES = {
  queued: 'queued',
  failed: 'failed attempt, or engine down',
  prefill: 'prefill',
  decode: 'decode',
  run: 'running, not streamed',
};

/** A call as it is drawn; one that has not ended is drawn as if it ended now. */
type Drawn = Pick<
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

/** Calls by thread. The lists below say the same in words, so the picture is one image for readers of the screen. */
export function TimeLine({ past, active }: { past: readonly PastCall[]; active: readonly ActiveCall[] }) {
  const calls: readonly Drawn[] = [...past, ...active.map(asPast)];
  if (calls.length === 0) return null;
  const last = Math.max(...calls.map(endOf));
  const start = Math.min(...calls.map((call) => call.arrived_at));
  const length = Math.max(0.001, last - start);
  const at = (time: number) => (100 * (time - start)) / length;
  const threads = [...new Set(calls.map(({ thread }) => thread))].sort();
  return (
    <figure>
      <h3>Time line</h3>
      <div
        role="img"
        aria-label={`${calls.length} calls in ${threads.length} threads, from ${clock(start)} to ${clock(last)}; listed below`}
      >
        {threads.map((thread) =>
          sideBySide(calls.filter((call) => call.thread === thread)).map((lane, index) => (
            <div key={`${thread} ${index}`} class="lane">
              <span class="lane-name" title={thread}>
                {index === 0 && (thread === '' ? 'root' : <Whole text={thread} />)}
              </span>
              <div class="lane-track">
                {lane.map((call) => (
                  <Fragment key={call.call}>{partsOf(call, at)}</Fragment>
                ))}
              </div>
            </div>
          )),
        )}
        <div class="lane axis">
          <span class="lane-name" />
          <div class="lane-track">
            <span>{clock(start)}</span>
            <span>{duration(length)}</span>
            <span>{clock(last)}</span>
          </div>
        </div>
      </div>
      <ul class="legend">
        {Object.entries(NAMES).map(([kind, name]) => (
          <li key={kind}>
            <i class={`part ${kind}`} style={colourOf(kind)} /> {name}
          </li>
        ))}
        <li>empty: tools, or the client</li>
      </ul>
    </figure>
  );
}

const endOf = ({ arrived_at: arrived, duration_seconds: took }: Drawn): number => arrived + took;

const asPast = (call: ActiveCall): Drawn => ({
  ...call,
  duration_seconds: call.failures.reduce(
    (sum, { began_at: from, failed_at: to }) => sum + to - from,
    call.waiting_seconds + call.service_seconds,
  ),
  service_seconds: call.state === 'running' ? call.service_seconds : null,
  first_token_seconds: call.first_token_at === null ? null : call.first_token_at - call.arrived_at,
});

/** A thread's calls in as few lanes as hold them without overlaps: a thread may make several calls at once. */
function sideBySide(calls: readonly Drawn[]): Drawn[][] {
  const lanes: Drawn[][] = [];
  for (const call of calls.toSorted((a, b) => a.arrived_at - b.arrived_at)) {
    const free = lanes.find((lane) => lane.every((other) => endOf(other) <= call.arrived_at));
    if (free === undefined) lanes.push([call]);
    else free.push(call);
  }
  return lanes;
}

/** Its kind names a variable of the style sheet. */
const colourOf = (kind: string) => ({ '--kind': `var(--${kind})` });

/** The parts of a call: attempts that failed, each after a wait, then the one that ran at its end, up to where it, or its engine, failed. @param at where a time is, in percent */
function partsOf(call: Drawn, at: (time: number) => number) {
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
  return parts
    .filter(([, from, to]) => to > from)
    .map(([kind, from, to]) => (
      <i
        key={from}
        class={`part ${kind}`}
        title={`${NAMES[kind]} ${duration(to - from)}. ${call.text}`}
        style={{ ...colourOf(kind), left: `${at(from)}%`, width: `${at(to) - at(from)}%` }}
      />
    ));
}
