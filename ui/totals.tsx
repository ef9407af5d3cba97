import { count, counted, duration, percent, tokens } from './format.js';
import { PANELS } from './history.js';
import { sumsOf } from './select.js';
import { UNANSWERED } from './words.js';
import { engines, queue, totals } from './state.js';

/** The figures whose charts are below, at a glance: a number, and what belongs to it. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Now, and in the last {sums.window_seconds / 60} minutes</h2>
      <dl class="totals">
        {tilesOf(sums).map(([value, note, meaning], at) => (
          <div key={at} title={meaning}>
            <dt>{PANELS[at]?.name ?? 'Failed'}</dt>
            <dd>
              <b>{value}</b> <span class="quiet">{note}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Totals = NonNullable<typeof totals.value>;

type Tile = readonly [value: string, note: string, meaning?: string];

/** In the order of the charts, and then calls that failed. */
function tilesOf(sums: Totals): readonly Tile[] {
  const { waiting = 0, background = 0, longest_wait_seconds: longest = 0 } = queue.value ?? {};
  const { program_completion_seconds: completion, programs_unanswered: lost, queue_seconds: queued } = sums;
  // Calls given up are told in the first lines.
  const failedBy = (side: string) =>
    sums.failed.reduce((sum, { fault, calls }) => sum + (fault === side ? calls : 0), 0);
  const theirs = failedBy('client');
  const { inFlight, away, window, workingSet, gate } = sumsOf(engines.value?.engines ?? []);
  // It breaks between the two times alone.
  const whole = (seconds: number | null) => duration(seconds).replaceAll(' ', '\u00A0');
  const spread = ({ p50, p99 }: typeof queued) => `${whole(p50)} / ${whole(p99)}`;
  return [
    [
      count(waiting - background),
      [
        ...(waiting > background ? [`longest ${duration(longest)}`] : []),
        ...(background > 0 ? [`${count(background)} in the background`] : []),
      ].join('; '),
    ],
    [spread(queued), `p50 / p99 of ${counted(queued.count, 'ended call')}`],
    [
      spread(completion),
      `p50 / p99 of ${counted(completion.count, 'completed program')}${lost > 0 ? `; ${count(lost)} ${UNANSWERED}` : ''}`,
      'Completed: answered, and ended or not called for a minute',
    ],
    [
      count(inFlight),
      [
        ...(window === null ? [] : [`${away > 0 ? `${count(inFlight - away)} ` : ''}of ${counted(window, 'call')}`]),
        ...(away > 0 ? [`${count(away)} on engines that take no calls`] : []),
      ].join('; '),
    ],
    [tokens(workingSet), gate === null ? '' : `of ${tokens(gate)} tokens`],
    [percent(sums.cached_share), ''],
    [
      count(failedBy('service')),
      `of ${counted(sums.calls, 'call')}${theirs > 0 ? `; ${count(theirs)} by clients’ fault` : ''}`,
    ],
  ];
}
