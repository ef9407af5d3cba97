import { Fragment } from 'preact';
import type { ActiveCall, PastCall } from '../sidecar/admin/answers.js';
import { asPast, endOf, partsOf, sideBySide, type Drawn } from './call-parts.js';
import { clock, duration } from './format.js';
import { Whole } from './names.js';

const NAMES = {
  queued: 'queued',
  failed: 'failed attempt, or engine down',
  prefill: 'prefill',
  decode: 'decode',
  run: 'running, not streamed',
};

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
                  <Fragment key={call.call}>{drawnParts(call, at)}</Fragment>
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

/** Its kind names a variable of the style sheet. */
const colourOf = (kind: string) => ({ '--kind': `var(--${kind})` });

/** @param at where a time is, in percent */
const drawnParts = (call: Drawn, at: (time: number) => number) =>
  partsOf(call).map(([kind, from, to]) => (
    <i
      key={from}
      class={`part ${kind}`}
      title={`${NAMES[kind]} ${duration(to - from)}. ${call.text}`}
      style={{ ...colourOf(kind), left: `${at(from)}%`, width: `${at(to) - at(from)}%` }}
    />
  ));
