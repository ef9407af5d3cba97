import { number, ratio } from '../../text/index.js';
import { SIM_POLICIES, type SimPolicyName } from '../../sim/index.js';
import type { Setup } from './case.js';
import type { Experiment } from './experiment.js';
import type { Block } from '../report/block.js';
import { caseOf, crossed, fleet, inProduction, mixedHeld, recorded, type Load } from './loads.js';
import { LOST, programTime, PROMOTIONS, REFUSED, RETRIES, WORST_WAIT, type Measure, type Results } from './results.js';

const PASS_THROUGH: Setup = { policy: 'pass-through' };
const PLAS: Setup = { policy: 'plas' };
/** Bounds for learning, not for waiting. */
const LEFT_OUT: ReadonlySet<SimPolicyName> = new Set(['gittins', 'mean-rest']);
const POLICIES: readonly Setup[] = SIM_POLICIES.filter((policy) => !LEFT_OUT.has(policy)).map((policy) => ({ policy }));

const BETAS = [1, 2, 4, 8, 16];
const WAITS_MS = [30_000, 60_000, 120_000, 300_000, 600_000];

const quarter = (index: number): Measure => ({
  label: `${['1st', '2nd', '3rd', '4th'][index] ?? ''} quarter p99 s`,
  of: (run) => run.by_size[index]?.program_seconds.p99 ?? null,
  show: number,
});

const COLUMNS = [
  WORST_WAIT,
  PROMOTIONS,
  programTime('mean'),
  LOST,
  REFUSED,
  RETRIES,
  programTime('p99'),
  ...[0, 1, 2, 3].map(quarter),
];

export const starvation: Experiment = {
  name: 'starvation',
  title: 'Who waits longest, in production',
  about:
    'Who pays for what short programs gain? For each policy the longest wait of one call before an engine had it (`pass-through` holds nothing back: its calls wait inside the engines), and the 99th percentile of program time by quarters of the programs, from those with the fewest tokens to those with the most. Then `plas` with other settings of anti-starvation: a call is promoted when its program has waited `starvation.beta` times as long as it was served, or when it has waited `starvation.waitMsMax` itself. The conditions are `production` of docs/SIMULATOR.md. `srpt` has no anti-starvation, `srpt-promoted` has the core’s.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [mixedHeld(scale), fleet(scale), ...recorded('mini-swe-agent', scale)].map(inProduction);
    const grid = scale.points(WAITS_MS).flatMap((waitMsMax) =>
      scale.points(BETAS).map((beta): Setup => ({
        ...PLAS,
        settings: { 'starvation.beta': beta, 'starvation.waitMsMax': waitMsMax },
      })),
    );
    return {
      cases: crossed(loads, [...POLICIES, ...grid]),
      tell: (results) => [
        ...loads.flatMap((load) => tellPolicies(load, results)),
        ...loads.flatMap((load) => tellGrid(load, grid, results)),
      ],
    };
  },
};

function tellPolicies(load: Load, results: Results): Block[] {
  const p99 = (setup: Setup) => results.mean(caseOf(load, setup), programTime('p99'));
  const wait = (setup: Setup) => results.most(caseOf(load, setup), WORST_WAIT);
  const [passed, plas, longest] = [p99(PASS_THROUGH), p99(PLAS), wait(PLAS)];
  return [
    results.table(
      `${load.name}: who waits`,
      'policy',
      COLUMNS,
      POLICIES.map((setup) => [setup.policy, caseOf(load, setup)]),
    ),
    {
      type: 'findings',
      sentences:
        !passed || !plas || !longest
          ? []
          : [
              `${load.name}: the p99 of program time under plas is ${ratio(plas / passed)} times that under pass-through, and no call waited longer than ${number(longest)} s in the gateway.`,
            ],
    },
  ];
}

/** Settings whose p99 does not exceed that of pass-through, the best mean first. */
function tellGrid(load: Load, grid: readonly Setup[], results: Results): Block[] {
  const of = (setup: Setup, measure: Measure) => results.mean(caseOf(load, setup), measure);
  const figures = [PLAS, ...grid].map((setup) => ({
    setup,
    mean: of(setup, programTime('mean')),
    p99: of(setup, programTime('p99')),
  }));
  const [passedMean, passedP99, own] = [
    of(PASS_THROUGH, programTime('mean')),
    of(PASS_THROUGH, programTime('p99')),
    of(PLAS, programTime('mean')),
  ];
  const text = (value: number | null, other: number | null) => (value === null || !other ? '-' : ratio(value / other));
  return [
    {
      type: 'table',
      caption: `${load.name}: anti-starvation of plas, times pass-through`,
      columns: ['beta, waitMsMax', 'program s mean', LOST.label, REFUSED.label, 'program s p99', 'longest wait s'],
      rows: figures.map(({ setup, mean, p99 }) => [
        labelOf(setup),
        text(mean, passedMean),
        results.shown(caseOf(load, setup), LOST),
        results.shown(caseOf(load, setup), REFUSED),
        text(p99, passedP99),
        results.shown(caseOf(load, setup), WORST_WAIT),
      ]),
    },
    {
      type: 'findings',
      sentences: !passedMean || !passedP99 || !own ? [] : [bestOf(load.name, figures, { passedMean, passedP99, own })],
    },
  ];
}

function bestOf(
  name: string,
  figures: readonly { readonly setup: Setup; readonly mean: number | null; readonly p99: number | null }[],
  { passedMean, passedP99, own }: { readonly passedMean: number; readonly passedP99: number; readonly own: number },
): string {
  const fair = figures.flatMap(({ setup, mean, p99 }) =>
    mean !== null && p99 !== null && p99 <= passedP99 ? [{ setup, mean, p99 }] : [],
  );
  const best = fair.sort((a, b) => a.mean - b.mean)[0];
  if (best === undefined)
    return `${name}: no setting here keeps the p99 of program time at or below that of pass-through.`;
  const kept = passedMean === own ? 1 : (passedMean - best.mean) / (passedMean - own);
  return `${name}: the best mean with a p99 no worse than that of pass-through has ${labelOf(best.setup)}: a mean of ${ratio(best.mean / passedMean)} and a p99 of ${ratio(best.p99 / passedP99)} times pass-through, ${ratio(kept)} times the default’s gain in the mean.`;
}

const labelOf = ({ settings }: Setup): string =>
  settings === undefined
    ? 'default'
    : `${settings['starvation.beta'] as number}, ${(settings['starvation.waitMsMax'] as number) / 1000} s`;
