import { Chart, sumOf, type ChartProps, type Curve } from './chart.js';
import { Choices } from './command.js';
import { clock, count, duration, percent, tokens } from './format.js';
import { together } from './select.js';
import { Shadow } from './shadow.js';
import { history, show } from './state.js';

type Past = NonNullable<typeof history.value>;

const RANGES = { '5m': '5 minutes', '1h': 'Hour', '1d': 'Day' } as const;

/** Causes of waiting by name and colour; those for which a call waits for an engine that takes it share one. */
const CAUSES: readonly (readonly [name: string, colour: string, causes: readonly (keyof Past['waiting'])[]])[] = [
  ['window', '--run', ['window']],
  ['KV cache', '--queued', ['kv']],
  ['turn', '--turn', ['turn']],
  ['knee', '--decode', ['knee']],
  ['background', '--quiet', ['background']],
  ['an engine', '--failed', ['no_engine', 'retry', 'refused', 'resting', 'probation']],
];

/** Marks in words; the pointer tells older ones. */
const MARKS_SHOWN = 5;
/** Marks within so many steps are one. */
const STEPS_TOGETHER = 3;

/** One quantity over time. */
type Panel = Omit<ChartProps, 'times' | 'marks' | 'curves'> & { readonly curves: (past: Past) => Curve[] };

const spread = ({ p50, p99 }: Past['queue_seconds']): Curve[] => [
  { name: 'p50', colour: '--accent', values: p50 },
  { name: 'p99', colour: '--queued', values: p99 },
];
const limited = (name: string, values: Curve['values'], limitName: string, limit: Curve['values']): Curve[] => [
  { name, colour: '--accent', values },
  { name: limitName, colour: '--queued', values: limit },
];

/** In the order of the figures above them. */
export const PANELS: readonly Panel[] = [
  { name: 'Waiting', isStack: true, curves: waits, format: count },
  { name: 'Queue time', curves: (past) => spread(past.queue_seconds), format: duration },
  { name: 'Program time', curves: (past) => spread(past.program_completion_seconds), format: duration },
  { name: 'In flight', curves: (past) => limited('calls', past.in_flight, 'window', past.window), format: count },
  {
    name: 'Working set',
    curves: (past) => limited('tokens', past.working_set_tokens, 'gate', past.gate_tokens),
    format: tokens,
  },
  {
    name: 'Prompt from cache',
    curves: (past) => [{ name: 'share', colour: '--accent', values: past.cached_share }],
    format: percent,
    max: 1,
  },
];

export function History() {
  const past = history.value;
  if (past === undefined) return null;
  const marks = together(past.marks, STEPS_TOGETHER * past.step_seconds);
  const times = past.in_flight.map((_, index) => past.from + index * past.step_seconds);
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Choices names={RANGES} now={past.range} choose={(range) => show({ range: range === '5m' ? '' : range })} />
      <div class="charts">
        {PANELS.map((panel) => (
          <Chart key={panel.name} {...panel} times={times} marks={marks} curves={panel.curves(past)} />
        ))}
      </div>
      {marks.length > 0 && (
        <p class="quiet">
          Dashed lines{marks.length > MARKS_SHOWN && ' (the latest; point at others)'}:{' '}
          {marks
            .slice(-MARKS_SHOWN)
            .map(({ at, until, text }) => `${text} (${[...new Set([at, until].map(clock))].join(' to ')})`)
            .join('; ')}
          .
        </p>
      )}
      <Shadow />
    </section>
  );
}

function waits({ waiting }: Past): Curve[] {
  return CAUSES.map(([name, colour, causes]) => ({
    name,
    colour,
    values: sumOf(causes.map((cause) => ({ values: waiting[cause] }))),
  })).filter(({ values }) => values.some((calls) => (calls ?? 0) > 0));
}
