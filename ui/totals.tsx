import { Spark } from './chart.js';
import { count, counted, duration, percent, tokens } from './format.js';
import { PANELS } from './history.js';
import { sumsOf } from './select.js';
import { Shadow } from './shadow.js';
import { engines, history, queue, totals } from './state.js';

/** The figures whose charts are below, at a glance: a number, what belongs to it, and its line. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const past = history.value?.range === '5m' ? history.value : undefined;
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Now, and in the last {sums.window_seconds / 60} minutes</h2>
      <dl class="totals">
        {tilesOf(sums).map(([name, value, note], at) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <b>{value}</b> <span class="quiet">{note}</span>
            </dd>
            {past !== undefined &&
              PANELS.slice(at, at + 1).map((panel) => <Spark key={at} {...panel} curves={panel.curves(past)} />)}
          </div>
        ))}
      </dl>
      <Shadow />
    </section>
  );
}

/** Codes of failures on the tile; the first line names as many. */
const CODES_SHOWN = 3;

/** In the order of the charts; failed calls, if any, have none. */
function tilesOf(sums: NonNullable<typeof totals.value>): readonly (readonly [string, string, string])[] {
  const { waiting = 0, background = 0, longest_wait_seconds: longest = 0 } = queue.value ?? {};
  const { program_completion_seconds: completion, queue_seconds: queued } = sums;
  const { inFlight, window, workingSet, gate } = sumsOf(engines.value?.engines ?? []);
  const spread = ({ p50, p99 }: typeof queued) => `${duration(p50)} / ${duration(p99)}`;
  const failures = sums.failed.reduce((sum, { calls }) => sum + calls, 0);
  const codes = sums.failed.slice(0, CODES_SHOWN).map(({ code, calls }) => `${count(calls)} ${code}`);
  if (sums.failed.length > CODES_SHOWN) codes.push('others');
  return [
    [
      'Waiting now',
      count(waiting - background),
      [
        ...(waiting > background ? [`longest ${duration(longest)}`] : []),
        ...(background > 0 ? [`${count(background)} in the background`] : []),
      ].join('; '),
    ],
    ['Queue time, p50 / p99', spread(queued), `${counted(queued.count, 'call')} ended`],
    ['Program time, p50 / p99', spread(completion), `${counted(completion.count, 'program')} finished`],
    ['In flight', count(inFlight), window === null ? '' : `of ${counted(window, 'call')}`],
    ['Working set', tokens(workingSet), gate === null ? '' : `of ${tokens(gate)} tokens`],
    ['Prompt from cache', percent(sums.cached_share), ''],
    ...(failures > 0
      ? [['Failed', count(failures), `of ${counted(sums.calls, 'call')}: ${codes.join(', ')}`] as const]
      : []),
  ];
}
