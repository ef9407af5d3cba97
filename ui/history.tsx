import { Chart, type Curve } from './chart.js';
import { clock, count, duration, percent, tokens } from './format.js';
import { history, show } from './state.js';
import { WAITED_FOR, WAIT_MEANINGS } from './words.js';

const RANGES = { '5m': '5 minutes', '1h': 'Hour', '1d': 'Day' } as const;

/** Causes of waiting that usually have calls get colours of their own. */
const CAUSES: readonly (readonly [colour: string, causes: readonly (keyof typeof WAITED_FOR)[]])[] = [
  ['--run', ['window']],
  ['--queued', ['kv']],
  ['--turn', ['turn']],
  ['--decode', ['knee']],
  ['--failed', ['no_engine', 'retry', 'refused', 'resting', 'probation']],
];

/** Marks in words; the pointer tells older ones. */
const MARKS_SHOWN = 5;

/** How the gateway has fared: curves and, for readers of the screen, a table. */
export function History() {
  const past = history.value;
  if (past === undefined) return null;
  const { queue_seconds: queued, program_completion_seconds: completion, marks } = past;
  const times = queued.count.map((_, index) => past.from + index * past.step_seconds);
  const spread = ({ p50, p99 }: typeof queued): Curve[] => [
    { name: 'p50', colour: '--accent', values: p50 },
    { name: 'p99', colour: '--queued', values: p99 },
  ];
  const limited = (name: string, values: Curve['values'], limit: Curve['values'], limitName: string): Curve[] => [
    { name, colour: '--accent', values },
    { name: limitName, colour: '--queued', values: limit },
  ];
  const shared = { times, marks };
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <p class="ranges">
        {Object.entries(RANGES).map(([range, name]) => (
          <button
            key={range}
            type="button"
            aria-pressed={past.range === range}
            onClick={() => show({ range: range === '5m' ? '' : range })}
          >
            {name}
          </button>
        ))}
      </p>
      <div class="charts">
        <Chart {...shared} name="Queue time of started calls" curves={spread(queued)} format={duration} />
        <Chart {...shared} name="Waiting calls, for" isStack curves={waits(past)} format={count} />
        <Chart {...shared} name="Completion time of programs" curves={spread(completion)} format={duration} />
        <Chart
          {...shared}
          name="Calls in flight"
          curves={limited('in flight', past.in_flight, past.window, 'window')}
          format={count}
        />
        <Chart
          {...shared}
          name="Working set"
          curves={limited('tokens', past.working_set_tokens, past.gate_tokens, 'gate')}
          format={tokens}
        />
        <Chart
          {...shared}
          name="Prompt from cache"
          curves={[{ name: 'share', colour: '--accent', values: past.cached_share }]}
          format={percent}
          max={1}
        />
      </div>
      {marks.length > 0 && (
        <p class="quiet">
          Dashed {marks.length === 1 ? 'line' : 'lines'}:{' '}
          {marks
            .slice(-MARKS_SHOWN)
            .map(({ at, text }) => `${text} (${clock(at)})`)
            .join('; ')}
          .
        </p>
      )}
      <AsTable past={past} times={times} />
    </section>
  );
}

type Past = NonNullable<typeof history.value>;

function waits({ waiting }: Past): Curve[] {
  return CAUSES.map(([colour, causes]) => ({
    name: causes.length > 1 ? 'engines' : WAITED_FOR[causes[0] ?? 'window'],
    colour,
    meaning: causes.map((cause) => WAIT_MEANINGS[cause] ?? '').join(''),
    values: waiting.window.map((_, at) => {
      const parts = causes.map((cause) => waiting[cause][at] ?? null).filter((part) => part !== null);
      return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0);
    }),
  }));
}

function AsTable({ past, times }: { readonly past: Past; readonly times: readonly number[] }) {
  const { queue_seconds: queued, program_completion_seconds: completion } = past;
  const all = waits(past);
  const waitingAt = (at: number): number | null =>
    all[0]?.values[at] === null ? null : all.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
  const columns: readonly (readonly [string, (at: number) => string])[] = [
    ['Calls', (at) => count(queued.count[at] ?? 0)],
    ['Programs', (at) => count(completion.count[at] ?? 0)],
    ['Queue time p50', (at) => duration(queued.p50[at] ?? null)],
    ['p99', (at) => duration(queued.p99[at] ?? null)],
    ['Completion p50', (at) => duration(completion.p50[at] ?? null)],
    ['p99', (at) => duration(completion.p99[at] ?? null)],
    ['Waiting', (at) => orDash(waitingAt(at), count)],
    ['In flight', (at) => orDash(past.in_flight[at], count)],
    ['Working set', (at) => orDash(past.working_set_tokens[at], tokens)],
    ['From cache', (at) => percent(past.cached_share[at] ?? null)],
  ];
  return (
    <details>
      <summary>As a table</summary>
      <div class="wide" tabIndex={0} role="region" aria-label="The charts as a table">
        <table>
          <thead>
            <tr>
              {['From', ...columns.map(([name]) => name)].map((name, at) => (
                <th key={at} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times
              .map((time, index) => (
                <tr key={time}>
                  <th scope="row">{clock(time)}</th>
                  {columns.map(([, cell], at) => (
                    <td key={at}>{cell(index)}</td>
                  ))}
                </tr>
              ))
              .reverse()}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const orDash = (value: number | null | undefined, format: (value: number) => string): string =>
  typeof value === 'number' ? format(value) : '–';
