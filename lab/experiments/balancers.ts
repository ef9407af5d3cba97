import { SIM_BALANCERS, type SimBalancerName } from '../../sim/index.js';
import { cross, type Case, type Setup } from './case.js';
import type { Experiment } from './experiment.js';
import type { Block } from '../report/plot.js';
import { fleet, recorded, type Load } from './loads.js';
import { HITS, LOST, REFUSED, perToken, programTime, ratioText, type Results } from './results.js';

const ENGINES = [2, 4, 8, 16, 64];
const THRESHOLDS = [0, 512, 1024, 2048, 4096, 8192, 16_384, 1_000_000];
const THRESHOLD_ENGINES = 4;
/** Enough to tell balancers apart; on 64 engines runs take long. */
const FLEET_PER_ENGINE = 100;
const RECORDED_ENGINES_MAX = 16;

const setupOf = (balancer: SimBalancerName): Setup => ({ policy: 'plas', balancer });
const SETUPS = SIM_BALANCERS.map(setupOf);

/** The default adapts its threshold; the others keep theirs fixed. */
const ADAPTIVE: Setup = { policy: 'plas', balancer: 'program-affinity' };
const fixed = (threshold: number): Setup => ({
  ...ADAPTIVE,
  settings: { 'balancer.thresholdTokens': threshold, 'balancer.adaptThreshold': false },
});

const COLUMNS = [programTime('mean'), LOST, REFUSED, programTime('p99'), perToken('mean'), perToken('p99'), HITS];

export const balancers: Experiment = {
  name: 'balancers',
  title: 'Where a call runs, without failures',
  about:
    'What is it worth to send a program’s calls to the engine that holds its context, and how does that change with the number of engines? `plas` with each balancer, programs and their rate in proportion to the engines. Then the prompt length above which `program-affinity` sends a call home (`balancer.thresholdTokens`), fixed at several values, against the default that moves it by measured prefix hits.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const engines = scale.points(ENGINES);
    const kinds = [
      (count: number) => [fleet(scale, count, FLEET_PER_ENGINE)],
      (count: number) => (count > RECORDED_ENGINES_MAX ? [] : recorded('mini-swe-agent', scale, count)),
    ];
    const sweeps = kinds.map((loadsOf) => engines.flatMap(loadsOf)).filter((loads) => loads.length > 0);
    const swept = kinds.flatMap((loadsOf) => loadsOf(THRESHOLD_ENGINES));
    const thresholds = [ADAPTIVE, ...scale.points(THRESHOLDS).map(fixed)];
    const scenarios = (loads: readonly Load[]) => loads.map(({ scenario }) => scenario);
    return {
      cases: [...cross(scenarios(sweeps.flat()), SETUPS), ...cross(scenarios(swept), thresholds)],
      tell: (results) => [
        ...sweeps.map((loads) => tellSweep(loads, results)),
        ...swept.map((load) => tellThresholds(load, thresholds, results)),
      ],
    };
  },
};

function tellSweep(loads: readonly Load[], results: Results): Block {
  const [{ name }] = loads as [Load];
  return results.table(
    `${name}: balancers`,
    'engines, balancer',
    COLUMNS,
    loads.flatMap(({ scenario }) =>
      SETUPS.map((setup) => [`${scenario.engines}, ${setup.balancer ?? ''}`, { scenario, setup }] as const),
    ),
    [['mean, times program-affinity', toAdaptive(results)]],
  );
}

const toAdaptive = (results: Results) => (one: Case) =>
  ratioText(results.ratio({ ...one, setup: ADAPTIVE }, one, programTime('mean')));

function tellThresholds({ name, scenario }: Load, setups: readonly Setup[], results: Results): Block {
  const label = ({ settings }: Setup) => String(settings?.['balancer.thresholdTokens'] ?? 'adaptive (default)');
  return results.table(
    `${name}, ${scenario.engines} engines: threshold of program-affinity, tokens`,
    'threshold',
    COLUMNS,
    setups.map((setup) => [label(setup), { scenario, setup }]),
    [['mean, times default', toAdaptive(results)]],
  );
}
