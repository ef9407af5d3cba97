import { ratio } from '../report/figures.js';
import type { LineChart } from '../report/plot.js';
import type { WorkloadName } from '../workloads/workloads.js';
import { cross, type Scenario, type Setup } from './case.js';
import { rateAt } from './equal-latency.js';
import type { Block, Chart, Experiment, Scale, Table } from './experiment.js';
import { perToken, type Measure, type Results } from './results.js';

interface Sweep {
  readonly workload: WorkloadName;
  readonly count: number;
  /** Programs a second. The first is so few that they hardly meet. */
  readonly rates: readonly number[];
}

const SWEEPS: readonly Sweep[] = [
  { workload: 'chat', count: 1000, rates: [1, 2, 2.5, 3, 3.5, 4, 5, 6, 8] },
  { workload: 'react', count: 1000, rates: [1, 2, 2.5, 3, 3.5, 4, 5, 6, 8] },
  { workload: 'mcts', count: 300, rates: [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6] },
  { workload: 'mixed', count: 600, rates: [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.2] },
];

const window = { 'admission.window': 64 };
const POLICIES: readonly (Setup & { readonly policy: Setup['policy'] })[] = [
  { policy: 'fcfs' },
  { policy: 'fcfs-window', settings: window },
  { policy: 'mlfq-call', settings: window },
  { policy: 'las-decayed', settings: window },
  { policy: 'plas', settings: window },
  { policy: 'srpt', settings: window },
];
const [FCFS, FCFS_WINDOW] = POLICIES as [Setup, Setup];
const PLAS = POLICIES[4] as Setup;

/** Latencies at which throughputs are compared, times that of fcfs at the first rate. */
const LATENCIES = [2, 3, 5];

export const rates: Experiment = {
  name: 'rates',
  title: 'Latency per token against arrival rate',
  about:
    'How many programs a second can one engine take before their users notice? Latency per token is a program’s time from its arrival to its end over the tokens that it put out, as in Autellix. `fcfs` passes every call on at once, to an engine that runs up to 256 together; all others hold it to 64 (`admission.window`), with the default gate.',
  recordings: [],
  plan(scale) {
    const sweeps = SWEEPS.map((sweep) => ({ ...sweep, rates: scale.points(sweep.rates) }));
    return {
      cases: cross(
        sweeps.flatMap((sweep) => sweep.rates.map((rate) => at(sweep, rate, scale))),
        POLICIES,
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
      (figureOf(FCFS, least, measure) ?? NaN) * times,
      sweep.rates.map((rate) => [rate, figureOf(setup, rate, measure)]),
    );
  return [
    ...(['mean', 'p99'] as const).map((statistic) => chart(sweep, statistic, figureOf)),
    figures(sweep, figureOf),
    {
      type: 'table',
      caption: `${sweep.workload}: programs a second at equal latency`,
      columns: ['policy', ...LATENCIES.flatMap((times) => [`mean x ${times}`, `p99 x ${times}`])],
      rows: POLICIES.map((setup) => [
        setup.policy,
        ...LATENCIES.flatMap((times) =>
          [perToken('mean'), perToken('p99')].map((measure) => rateOf(setup, times, measure).text),
        ),
      ]),
    },
    { type: 'findings', sentences: sentences(sweep, rateOf) },
  ];
}

type FigureOf = (setup: Setup, rate: number, measure: Measure) => number | null;

function chart({ workload, rates: swept }: Sweep, statistic: 'mean' | 'p99', figureOf: FigureOf): Chart {
  const lines: LineChart = {
    title: `${workload}: ${statistic} latency per token`,
    description: `${statistic === 'mean' ? 'Mean' : '99th percentile'} of program time over output tokens against the rate at which programs arrive, a line for each policy. Lower is better.`,
    x: { label: 'programs a second' },
    y: { label: 'ms per token', log: true },
    series: POLICIES.map((setup) => ({
      name: setup.policy,
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
    rows: (['mean', 'p95', 'p99'] as const).flatMap((statistic) =>
      POLICIES.map((setup) => [
        `${statistic}, ${setup.policy}`,
        ...swept.map((rate) => perToken(statistic).show(figureOf(setup, rate, perToken(statistic)))),
      ]),
    ),
  };
}

function sentences(
  { workload }: Sweep,
  rateOf: (setup: Setup, times: number, measure: Measure) => ReturnType<typeof rateAt>,
): string[] {
  return [perToken('mean'), perToken('p99')].flatMap((measure) => {
    const told = LATENCIES.flatMap((times) => {
      const [plas, fcfs, held] = [PLAS, FCFS, FCFS_WINDOW].map((setup) => rateOf(setup, times, measure));
      if (!plas?.rate || !fcfs?.rate || !held?.rate || fcfs.isLeast || held.isLeast) return [];
      const more = (other: number) => `${plas.isLeast ? 'at least ' : ''}${ratio(Number(plas.rate) / other)} times`;
      return [
        `at ${times} times the latency of an idle engine ${more(fcfs.rate)} as many programs as fcfs and ${more(held.rate)} as many as fcfs-window`,
      ];
    });
    const of = measure.label.endsWith('mean') ? 'mean' : 'p99';
    return told.length === 0 ? [] : [`${workload}, by the ${of}: plas takes ${told.join('; ')}.`];
  });
}
