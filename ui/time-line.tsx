import { Fragment } from 'preact';
import type { ActiveCall, PastCall } from '../sidecar/admin/answers.js';
import { brief, clock, duration } from './format.js';

const NAMES = {
  queued: 'queued',
  failed: 'failed attempt',
  prefill: 'prefill',
  decode: 'decode',
  run: 'running, not streamed',
};

interface Part {
  readonly kind: keyof typeof NAMES;
  readonly from: number;
  readonly to: number;
}

interface Mark {
  readonly id: string;
  readonly thread: string;
  readonly parts: readonly Part[];
  readonly title: string;
}

interface TimeLineProps {
  readonly past: readonly PastCall[];
  readonly active: readonly ActiveCall[];
}

/** Calls by thread. The lists below say the same in words, so the picture is one image for readers of the screen. */
export function TimeLine({ past, active }: TimeLineProps) {
  const marks = [...past.map(pastMark), ...active.map(activeMark)];
  if (marks.length === 0) return null;
  const last = Math.max(...marks.map(endOf));
  const start = Math.min(...marks.map(startOf));
  const length = Math.max(0.001, last - start);
  const at = (time: number) => (100 * (time - start)) / length;
  const threads = [...new Set(marks.map(({ thread }) => thread))].sort();
  return (
    <figure>
      <h3>Time line</h3>
      <div
        role="img"
        aria-label={`${marks.length} calls in ${threads.length} threads, from ${clock(start)} to ${clock(last)}; listed below`}
      >
        {threads.map((thread) =>
          sideBySide(marks.filter((mark) => mark.thread === thread)).map((lane, index) => (
            <div key={`${thread} ${index}`} class="lane">
              <span class="lane-name" title={thread}>
                {index > 0 ? '' : thread === '' ? 'root' : brief(thread, 14)}
              </span>
              <div class="lane-track">
                {lane.map((mark) => (
                  <Fragment key={mark.id}>{partsOf(mark, at)}</Fragment>
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

const startOf = ({ parts }: Mark): number => parts[0]?.from ?? Infinity;
const endOf = ({ parts }: Mark): number => parts.at(-1)?.to ?? -Infinity;

/** A thread's calls in as few lanes as hold them without overlaps: a thread may make several calls at once. */
function sideBySide(marks: readonly Mark[]): Mark[][] {
  const lanes: Mark[][] = [];
  for (const mark of marks.toSorted((a, b) => startOf(a) - startOf(b))) {
    const free = lanes.find((lane) => lane.every((other) => endOf(other) <= startOf(mark)));
    if (free === undefined) lanes.push([mark]);
    else free.push(mark);
  }
  return lanes;
}

/** Its kind names a variable of the style sheet. */
const colourOf = (kind: string) => ({ '--kind': `var(--${kind})` });

/** @param at where a time is, in percent */
const partsOf = ({ parts, title }: Mark, at: (time: number) => number) =>
  parts
    .filter(({ from, to }) => to > from)
    .map(({ kind, from, to }) => (
      <i
        key={kind}
        class={`part ${kind}`}
        title={`${NAMES[kind]} ${duration(to - from)}. ${title}`}
        style={{ ...colourOf(kind), left: `${at(from)}%`, width: `${at(to) - at(from)}%` }}
      />
    ));

const markOf = ({ call: id, thread, text: title }: Pick<PastCall, 'call' | 'thread' | 'text'>, parts: readonly Part[]): Mark =>
  ({ id, thread, parts, title }); // prettier-ignore

/** The parts of a call: queued, attempts that failed, then the last attempt. */
function pastMark(call: PastCall): Mark {
  const { arrived_at: arrived, duration_seconds: took, service_seconds: service, first_token_seconds: first } = call;
  const ended = arrived + took;
  const dequeued = Math.min(ended, arrived + call.queue_seconds);
  // Between the queue and the last attempt there are only the attempts that failed.
  const sent = service === null ? ended : call.attempts > 1 ? Math.max(dequeued, ended - service) : dequeued;
  const queuedTo = service === null ? ended : dequeued;
  const began = first === null ? null : Math.max(sent, arrived + first);
  const failed: Part = { kind: 'failed', from: queuedTo, to: sent };
  return markOf(call, [{ kind: 'queued', from: arrived, to: queuedTo }, failed, ...running(sent, began, ended)]);
}

function activeMark(call: ActiveCall): Mark {
  const sent = call.arrived_at + call.waiting_seconds;
  const now = sent + call.service_seconds;
  const ran = call.state === 'running' ? running(sent, call.first_token_at, now) : [];
  return markOf(call, [{ kind: 'queued', from: call.arrived_at, to: sent }, ...ran]);
}

function running(sent: number, began: number | null, ended: number): Part[] {
  if (began === null) return [{ kind: 'run', from: sent, to: ended }];
  return [
    { kind: 'prefill', from: sent, to: began },
    { kind: 'decode', from: began, to: ended },
  ];
}
