import { Chart, type Curve } from './chart.js';
import { Choices } from './command.js';
import { clock, count, duration, percent, tokens } from './format.js';
import { history, show } from './state.js';

type Past = NonNullable<typeof history.value>;

const RANGES = { '5m': '5 minutes', '1h': 'Hour', '1d': 'Day' } as const;

/** Causes of waiting by name and colour; those of trouble with engines share one. */
const CAUSES: readonly (readonly [name: string, colour: string, causes: readonly (keyof Past['waiting'])[]])[] = [
  ['window', '--run', ['window']],
  ['KV cache', '--queued', ['kv']],
  ['turn', '--turn', ['turn']],
  ['knee', '--decode', ['knee']],
  ['background', '--prefill', ['background']],
  ['engines', '--failed', ['no_engine', 'retry', 'refused', 'resting', 'probation']],
];

/** Marks in words; the pointer tells older ones. */
const MARKS_SHOWN = 5;

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
      <Choices names={RANGES} now={past.range} choose={(range) => show({ range: range === '5m' ? '' : range })} />
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
    </section>
  );
}

function waits({ waiting }: Past): Curve[] {
  return CAUSES.map(([name, colour, causes]) => ({
    name,
    colour,
    values: waiting.window.map((_, at) => {
      const parts = causes.map((cause) => waiting[cause][at] ?? null).filter((part) => part !== null);
      return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0);
    }),
  }));
}
