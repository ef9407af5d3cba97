import { ratio } from '../../text/index.js';
import type { LineChart } from '../report/plot.js';
import type { WorkloadName } from '../../workloads/index.js';
import { cross, type Scenario, type Setup } from './case.js';
import { rateAt, type RateAt } from './equal-latency.js';
import type { Experiment, Scale } from './experiment.js';
import type { Block, Chart, Table } from '../report/block.js';
import { LOST, perToken, REFUSED, type Measure, type Results } from './results.js';

interface Sweep {
  readonly workload: WorkloadName;
  readonly count: number;
  /** Programs a second. At the first rate programs hardly ever meet. */
  readonly rates: readonly number[];
}

const SWEEPS: readonly Sweep[] = [
  { workload: 'chat', count: 1000, rates: [1, 2, 2.5, 3, 3.5, 4, 5, 6, 8] },
  { workload: 'react', count: 1000, rates: [1, 2, 2.5, 3, 3.5, 4, 5, 6, 8] },
  { workload: 'mcts', count: 300, rates: [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6] },
  { workload: 'mixed', count: 600, rates: [0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2.5] },
];

const held = { settings: { 'admission.window': 64 } };
const SETUPS = {
  'pass-through': { policy: 'pass-through' },
  'fcfs-window': { policy: 'fcfs-window', ...held },
  'las-decayed': { policy: 'las-decayed', ...held },
  plas: { policy: 'plas', ...held },
  srpt: { policy: 'srpt', ...held },
  'srpt, promoted': { policy: 'srpt-promoted', ...held },
  'plas, defaults': { policy: 'plas' },
} satisfies Record<string, Setup>;
const NAMED = Object.entries<Setup>(SETUPS);

/** Latencies at which throughputs are compared, as multiples of that of pass-through at the first rate. */
const LATENCIES = [2, 3, 5];

export const rates: Experiment = {
  name: 'rates',
  title: 'Latency per token against arrival rate, without failures',
  about:
    'How many programs a second can one engine take before their users notice? Latency per token is a program’s time from its arrival to its end over the tokens that it put out, as in Autellix. `pass-through` passes every call on at once, to an engine that runs up to 256 together; all others hold it to 64 (`admission.window`), with the default gate; `plas, defaults` has the default window too. Autellix reports 4 to 15 times the throughput of vLLM at equal latency, and 2 to 4 times that of one that was tuned.',
  recordings: [],
  plan(scale) {
    const sweeps = SWEEPS.map((sweep) => ({ ...sweep, rates: scale.points(sweep.rates) }));
    return {
      cases: cross(
        sweeps.flatMap((sweep) => sweep.rates.map((rate) => at(sweep, rate, scale))),
        Object.values(SETUPS),
      ),
      tell: (results) => sweeps.flatMap((sweep) => tellOf(sweep, results, scale)),
    };
  },
};

const at = ({ workload, count }: Sweep, ratePerSecond: number, scale: Scale): Scenario => ({
  programs: { workload },
  count: scale.programs(count),
  ratePerSecond,
  engines: 1,
  machine: 'llama-3.1-8b-a100',
});

function tellOf(sweep: Sweep, results: Results, scale: Scale): Block[] {
  const figureOf = (setup: Setup, rate: number, measure: Measure) =>
    results.mean({ scenario: at(sweep, rate, scale), setup }, measure);
  const [least = NaN] = sweep.rates;
  const rateOf = (setup: Setup, times: number, measure: Measure) =>
    rateAt(
      (figureOf(SETUPS['pass-through'], least, measure) ?? NaN) * times,
      sweep.rates.map((rate) => [rate, figureOf(setup, rate, measure)]),
    );
  return [
    ...(['mean', 'p99'] as const).map((statistic) => chart(sweep, statistic, figureOf)),
    figures(sweep, figureOf),
    {
      type: 'table',
      caption: `${sweep.workload}: programs a second at equal latency`,
      columns: ['policy', ...LATENCIES.flatMap((times) => [`mean x ${times}`, `p99 x ${times}`])],
      rows: NAMED.map(([name, setup]) => [
        name,
        ...LATENCIES.flatMap((times) =>
          [perToken('mean'), perToken('p99')].map((measure) => rateOf(setup, times, measure).text),
        ),
      ]),
    },
    { type: 'findings', sentences: sentences(sweep, rateOf) },
  ];
}

type RateOf = (setup: Setup, times: number, measure: Measure) => RateAt;
type FigureOf = (setup: Setup, rate: number, measure: Measure) => number | null;

function chart({ workload, rates: swept }: Sweep, statistic: 'mean' | 'p99', figureOf: FigureOf): Chart {
  const lines: LineChart = {
    title: `${workload}: ${statistic} latency per token`,
    description: `${statistic === 'mean' ? 'Mean' : '99th percentile'} of program time over output tokens against the rate at which programs arrive, a line for each policy. Lower is better.`,
    x: { label: 'programs a second' },
    y: { label: 'ms per token', log: true },
    series: NAMED.map(([name, setup]) => ({
      name,
      points: swept.map((rate) => ({ x: rate, y: figureOf(setup, rate, perToken(statistic)) })),
    })),
  };
  return { type: 'chart', name: `rates-${workload}-${statistic}`, lines };
}

/** A row for each statistic and policy, a column for each rate. */
function figures({ workload, rates: swept }: Sweep, figureOf: FigureOf): Table {
  return {
    type: 'table',
    caption: `${workload}: ms per token by programs a second`,
    columns: ['statistic, policy', ...swept.map(String)],
    rows: [perToken('mean'), LOST, REFUSED, perToken('p95'), perToken('p99')].flatMap((measure) =>
      NAMED.map(([name, setup]) => [
        `${measure.label}, ${name}`,
        ...swept.map((rate) => measure.show(figureOf(setup, rate, measure))),
      ]),
    ),
  };
}

function sentences({ workload }: Sweep, rateOf: RateOf): string[] {
  return (['mean', 'p99'] as const).flatMap((statistic) => {
    const at = (setup: Setup) => LATENCIES.map((times) => rateOf(setup, times, perToken(statistic)));
    const plas = at(SETUPS.plas);
    const told = (['pass-through', 'fcfs-window'] as const).flatMap((name) => {
      const ratios = at(SETUPS[name]).map((other, index) => ratioOf(plas[index], other));
      return ratios.every((text) => text === '-') ? [] : [`${ratios.join(', ')} times as many programs as ${name}`];
    });
    if (told.length === 0) return [];
    return [
      `${workload}: where the ${statistic} is ${LATENCIES.join(', ')} times that of an idle engine, plas takes ${told.join(', and ')}.`,
    ];
  });
}

/** Ratio of two rates; a bound on it where a curve ends before it reaches the latency. */
function ratioOf(rate: RateAt | undefined, other: RateAt): string {
  if (!rate?.rate || !other.rate || other.isLeast) return '-';
  return `${rate.isLeast ? '> ' : ''}${ratio(rate.rate / other.rate)}`;
}
