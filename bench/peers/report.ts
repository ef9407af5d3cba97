import { mean, show } from '../numbers.js';
import type { Run, TargetName } from './run.js';

export const HEADINGS = [
  ...['target', 'seed', 'mean s (p99)', 'x first', 'ms/token', 'x first', 'cached'],
  ...['completed', 'refused', 'failed', 'late ms', 'others, cores'],
];

export const brief = ({ meanSeconds, p99Seconds, msPerToken }: Figures): string =>
  `mean ${show(meanSeconds)} s, p99 ${show(p99Seconds)} s, ${show(msPerToken)} ms/token`;

/** Rows of one load's runs, seed by seed, then the means of targets that ran with several seeds. */
export function rowsOf(runs: readonly Run[], targets: readonly TargetName[]): string[][] {
  const seeds = [...new Set(runs.map(({ seed }) => seed))];
  const rows = seeds.flatMap((seed) => {
    const round = targets.flatMap((target) => runs.filter((run) => run.seed === seed && run.target === target));
    const peer = round.find(({ target }) => target === targets[0]);
    return round.map((run) => rowOf(run, peer));
  });
  return seeds.length > 1 ? [...rows, ...meanRows(runs, targets, seeds.length)] : rows;
}

function rowOf(run: Run, peer: Run | undefined): string[] {
  const unfinished = run.unfinished === 0 ? '' : ` (${run.unfinished} unfinished)`;
  return [
    run.target,
    `${run.seed}`,
    ...figures(run, peer),
    Number.isNaN(run.cachedShare) ? '-' : `${(100 * run.cachedShare).toFixed(0)} %`,
    `${run.completed}/${run.programs}${unfinished}`,
    `${run.refused}`,
    `${run.failed}`,
    show(run.lateMsP99),
    run.disturbance.others_cores?.toFixed(2) ?? '-',
  ];
}

type Figures = Pick<Run, 'meanSeconds' | 'p99Seconds' | 'msPerToken'>;

const figures = (run: Figures, peer: Figures | undefined): string[] => [
  `${show(run.meanSeconds)} (${show(run.p99Seconds)})`,
  times(run.meanSeconds, peer?.meanSeconds),
  show(run.msPerToken),
  times(run.msPerToken, peer?.msPerToken),
];

const times = (value: number, other = NaN): string => (Number.isNaN(value / other) ? '-' : (value / other).toFixed(2));

/** Only for targets with a run for every seed: other means would be of different programs. */
function meanRows(runs: readonly Run[], targets: readonly TargetName[], seeds: number): string[][] {
  const means = new Map<TargetName, Figures>();
  for (const target of targets) {
    const own = runs.filter((run) => run.target === target);
    if (own.length === seeds) means.set(target, meanOf(own));
  }
  const blank = ['', '', '', '', '', ''];
  return [...means].map(([target, own]) => [target, 'mean', ...figures(own, means.get(targets[0]!)), ...blank]);
}

const meanOf = (runs: readonly Figures[]): Figures => ({
  meanSeconds: mean(runs.map(({ meanSeconds }) => meanSeconds)),
  p99Seconds: mean(runs.map(({ p99Seconds }) => p99Seconds)),
  msPerToken: mean(runs.map(({ msPerToken }) => msPerToken)),
});
