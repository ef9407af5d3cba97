import { ratio } from '../../text/index.js';
import type { WorkloadName } from '../../workloads/index.js';
import { cross, type Scenario, type Setup } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import { atEfficiency, EFFICIENCIES, synthetic, type Efficiency } from './loads.js';
import type { Chart, LineChart, Table } from '../report/plot.js';
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

const SETUPS = {
  'pass-through': { policy: 'pass-through' },
  plas: { policy: 'plas' },
  'plas, window 64': { policy: 'plas', settings: { 'admission.window': 64 } },
} satisfies Record<string, Setup>;
type SetupName = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as SetupName[];
/** Those that also run at the low and the high efficiency. */
const BOUNDED: readonly SetupName[] = ['pass-through', 'plas'];

/** Latencies at which throughputs are compared, as multiples of that of pass-through at the first rate. */
const LATENCIES = [2, 3, 5];
const LIMITS = (['mean', 'p99'] as const).flatMap((statistic) => LATENCIES.map((times) => ({ statistic, times })));

export const rates: Experiment = {
  name: 'rates',
  title: 'Latency per token against arrival rate, without failures',
  about:
    'How many programs a second can one engine take before their users notice? Latency per token is a program’s time from its arrival to its end over the tokens that it put out, as in Autellix. `pass-through` passes every call on at once, to an engine that runs up to 256 together. Both run at the default, the low and the high efficiency of the preset (docs/TRUST.md); `plas` also with a window of 64, as in the papers. Autellix reports 4 to 15 times the throughput of vLLM at equal latency, and 2 to 4 times that of one that was tuned.',
  recordings: [],
  plan(scale) {
    const sweeps = SWEEPS.map((sweep) => ({ ...sweep, rates: scale.points(sweep.rates) }));
    return {
      cases: sweeps.flatMap((sweep) =>
        EFFICIENCIES.flatMap((efficiency) =>
          cross(
            sweep.rates.map((rate) => at(sweep, rate, scale, efficiency)),
            (efficiency === '' ? NAMES : BOUNDED).map((name) => SETUPS[name]),
          ),
        ),
      ),
      tell: (results) => {
        const told = sweeps.map((sweep) => new Told(sweep, scale, results));
        return [summary(told), ...told.flatMap((one) => [chart(one), figures(one)])];
      },
    };
  },
};

const at = ({ workload, count }: Sweep, ratePerSecond: number, scale: Scale, efficiency: Efficiency): Scenario =>
  atEfficiency(synthetic(workload, count, ratePerSecond)(scale).scenario, efficiency);

class Told {
  constructor(
    readonly sweep: Sweep,
    private readonly scale: Scale,
    private readonly results: Results,
  ) {}

  figure(name: SetupName, rate: number, measure: Measure, efficiency: Efficiency = ''): number | null {
    return this.results.mean({ scenario: at(this.sweep, rate, this.scale, efficiency), setup: SETUPS[name] }, measure);
  }

  /** Programs a second at which the policy reaches so many times an idle engine's latency. */
  rate(name: SetupName, times: number, measure: Measure, efficiency: Efficiency = ''): RateAt {
    const [least = NaN] = this.sweep.rates;
    return rateAt(
      (this.figure('pass-through', least, measure, efficiency) ?? NaN) * times,
      this.sweep.rates.map((rate) => [rate, this.figure(name, rate, measure, efficiency)]),
    );
  }

  /** Programs of `name` over those of pass-through: at the default efficiency, and between the bounds if they ran. */
  gain(name: SetupName, times: number, measure: Measure): string {
    const of = (efficiency: Efficiency) =>
      ratioOf(this.rate(name, times, measure, efficiency), this.rate('pass-through', times, measure, efficiency));
    return BOUNDED.includes(name) ? `${of('')} (${of(':low')}, ${of(':high')})` : of('');
  }
}

function summary(told: readonly Told[]): Table {
  return {
    type: 'table',
    caption: 'Programs a second over those of pass-through at equal latency (low and high efficiency)',
    columns: ['workload, policy', ...LIMITS.map(({ statistic, times }) => `${statistic} x ${times}`)],
    rows: NAMES.slice(1).flatMap((name) =>
      told.map((one) => [
        `${one.sweep.workload}, ${name}`,
        ...LIMITS.map(({ statistic, times }) => one.gain(name, times, perToken(statistic))),
      ]),
    ),
  };
}

function chart(told: Told): Chart {
  const { workload, rates: swept } = told.sweep;
  const lines: LineChart = {
    title: `${workload}: mean latency per token`,
    description:
      'Mean of program time over output tokens against the rate at which programs arrive, a line for each policy. Lower is better.',
    x: { label: 'programs a second' },
    y: { label: 'ms per token' },
    series: NAMES.map((name) => ({
      name,
      points: swept.map((rate) => ({ x: rate, y: told.figure(name, rate, perToken('mean')) })),
    })),
  };
  return { type: 'chart', name: `rates-${workload}-mean`, lines };
}

function figures(told: Told): Table {
  const { workload, rates: swept } = told.sweep;
  return {
    type: 'table',
    caption: `${workload}: ms per token, and what was lost or refused, by programs a second`,
    columns: ['figure, policy', ...swept.map(String)],
    rows: [perToken('mean'), perToken('p95'), perToken('p99'), LOST, REFUSED].flatMap((measure) =>
      NAMES.map((name) => [
        `${measure.label}, ${name}`,
        ...swept.map((rate) => measure.show(told.figure(name, rate, measure))),
      ]),
    ),
  };
}

/** Ratio of two rates; a bound on it where a curve ends before it reaches the latency. */
function ratioOf(rate: RateAt, other: RateAt): string {
  if (!rate.rate || !other.rate || other.isLeast) return '-';
  return `${rate.isLeast ? '> ' : ''}${ratio(rate.rate / other.rate)}`;
}

interface RateAt {
  /** Null: above the latency from the first rate, or unknown. */
  readonly rate: number | null;
  /** The latency was never reached: the rate is the sweep's last one, and the true rate is higher. */
  readonly isLeast: boolean;
}

const UNKNOWN: RateAt = { rate: null, isLeast: false };

/**
 * Finds by linear interpolation the rate at which a latency curve first exceeds the given latency.
 * @param curve by ascending rate; null where there is no figure
 */
export function rateAt(latency: number, curve: readonly (readonly [rate: number, latency: number | null])[]): RateAt {
  let below: readonly [number, number] | undefined;
  for (const [rate, value] of curve) {
    if (value === null || Number.isNaN(latency)) return UNKNOWN;
    if (value > latency) {
      if (below === undefined) return UNKNOWN;
      const [lastRate, lastValue] = below;
      return { rate: lastRate + ((rate - lastRate) * (latency - lastValue)) / (value - lastValue), isLeast: false };
    }
    below = [rate, value];
  }
  return { rate: below?.[0] ?? null, isLeast: true };
}
