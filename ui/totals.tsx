import { Spark } from './chart.js';
import { count, counted, duration, percent, tokens } from './format.js';
import { PANELS } from './history.js';
import { Shadow } from './shadow.js';
import { engines, history, queue, totals } from './state.js';
import { LEVEL_MEANING } from './words.js';

/** The figures whose charts are below, at a glance: a number, what belongs to it, and its line. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const past = history.value?.range === '5m' ? history.value : undefined;
  const levels = queue.value?.levels.filter(({ waiting }) => waiting > 0) ?? [];
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Last {sums.window_seconds / 60} minutes</h2>
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
      {levels.length > 0 && (
        <p class="quiet" title={LEVEL_MEANING}>
          Waiting calls by level, of which 0 goes first:{' '}
          {levels.map(({ level, waiting }) => `${count(waiting)} at ${level}`).join(', ')}.
        </p>
      )}
      <Shadow />
    </section>
  );
}

/** In the order of the charts. */
function tilesOf(sums: NonNullable<typeof totals.value>): readonly (readonly [string, string, string])[] {
  const { waiting = 0, background = 0, longest_wait_seconds: longest = 0 } = queue.value ?? {};
  const { program_completion_seconds: completion, queue_seconds: queued } = sums;
  const all = (engines.value?.engines ?? []).map((engine) => ({ ...engine, ...engine.all_gateways }));
  const open = all.filter(({ state }) => state === 'up' || state === 'probation');
  const gates = open.map((engine) => engine.rest_tokens ?? engine.capacity_tokens);
  const windows = open.map(({ window }) => window);
  return [
    [
      'Waiting now',
      count(waiting - background),
      [
        ...(waiting > background ? [`longest ${duration(longest)}`] : []),
        ...(background > 0 ? [`${count(background)} in the background`] : []),
      ].join('; '),
    ],
    ['Queue time, p50 / p99', `${duration(queued.p50)} / ${duration(queued.p99)}`, counted(queued.count, 'call')],
    [
      'Completion time, p50 / p99',
      `${duration(completion.p50)} / ${duration(completion.p99)}`,
      `${counted(completion.count, 'program')} finished`,
    ],
    ['In flight', count(sum(all.map(({ in_flight: inFlight }) => inFlight))), within(windows, count)],
    ['Working set', tokens(sum(all.map(({ working_set_tokens: workingSet }) => workingSet))), within(gates, tokens)],
    ['Prompt from cache', percent(sums.cached_share), ''],
  ];
}

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** The bound of all engines that take calls, if each has one. */
const within = (limits: readonly (number | null)[], format: (value: number) => string): string =>
  limits.length === 0 || limits.includes(null) ? '' : `of ${format(sum(limits))}`;
