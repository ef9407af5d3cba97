import type { ProgramSource } from '../program-source.js';
import { verdictOf } from '../../lab/index.js';
import { ratiosOf } from '../sim/comparison.js';
import type { Plan } from '../sim/plan.js';
import type { RunReport } from '../sim/run.js';
import { excessOf, type Objective } from './objective.js';

/** Settings of the first round that the second one plays with more seeds: one in so many, besides the present one. */
const KEPT_SHARE = 1 / 4;

/** A search, which plays only the programs that it may see. */
export interface Search {
  /** Its variants are the settings to try; the first is the present one. */
  readonly plan: Plan;
  readonly objectives: readonly Objective[];
  /** Plays runs; fewer where time is up. `later`: the runs that are to follow. */
  readonly play: (plan: Plan, title: string, later: number) => Promise<RunReport[]>;
}

export interface Found {
  /** The setting that comes nearest to the objectives. */
  readonly closest: number;
  /** Place among the settings; 0: none is better than the present one. */
  readonly choice: number;
  /** Whole runs by the place of their settings. */
  readonly runs: readonly RunReport[];
  /** Settings with at least one whole run. */
  readonly tried: number;
}

/**
 * All settings with the first seed, then the best of them with the others. Where chance plays no part, one round.
 * @throws Error when the time was too short for the present setting
 */
export async function search(task: Search): Promise<Found> {
  const { plan, objectives, play } = task;
  const [first = 0, ...others] = plan.seeds;
  const kept = keptOf(plan.variants.length);
  const runs = whole(await play({ ...plan, seeds: [first] }, `${plan.variants.length} settings`, others.length * kept));
  const tried = new Set(runs.map(({ variant }) => variant)).size;
  if (!runs.some(({ variant }) => variant === 0)) throw new Error('the time was too short for one run: raise --time');
  const ranked = plan.variants.map((_, at) => at).filter((at) => ofVariant(runs, at).length > 0).sort(byRank(objectives, runs)); // prettier-ignore
  const best = [...new Set([0, ...ranked])].slice(0, kept);
  if (others.length === 0) return { ...chosen(task, runs, best), runs, tried };
  const again = whole(
    await play({ ...plan, seeds: others, variants: best.flatMap((at) => plan.variants[at] ?? []) }, `the best ${best.length}`, 0), // prettier-ignore
  ).map((run) => ({ ...run, variant: best[run.variant] ?? 0 }));
  const all = [...runs, ...again];
  const complete = best.filter((at) => ofVariant(all, at).length === plan.seeds.length);
  return { ...(complete.includes(0) ? chosen(task, all, complete) : { closest: 0, choice: 0 }), runs: all, tried };
}

/** Runs of a search in all. */
export const runsOfSearch = (settings: number, seeds: number): number => settings + (seeds - 1) * keptOf(settings);

const keptOf = (settings: number): number => Math.min(settings, 1 + Math.ceil(settings * KEPT_SHARE));

/**
 * The best of these settings. It is the choice if it alone meets the objectives, or if it is certainly faster than the
 * present one too. A setting that misses them is no choice, however close it comes.
 */
function chosen({ plan, objectives }: Search, runs: readonly RunReport[], among: readonly number[]) {
  const [closest = 0] = [...among].sort(byRank(objectives, runs));
  const excess = (at: number) => excessOf(objectives, ofVariant(runs, at));
  const { mean } = ratiosOf(runs, { first: [0], other: [closest] }).program_seconds;
  const isBetter = excess(closest) === 0 && (excess(0) > 0 || verdictOf(mean, plan.margin) === 'sooner');
  return { closest, choice: isBetter ? closest : 0 };
}

/** Objectives first, then programs that failed, then mean program time. */
function byRank(objectives: readonly Objective[], runs: readonly RunReport[]) {
  const rank = (at: number): readonly number[] => {
    const own = ofVariant(runs, at);
    const failed = own.reduce((sum, run) => sum + run.failed, 0) / own.length;
    const seconds = own.reduce((sum, run) => sum + (run.program_seconds.mean ?? Infinity), 0) / own.length;
    return [excessOf(objectives, own), failed, seconds];
  };
  return (a: number, b: number): number => {
    const [one, two] = [rank(a), rank(b)];
    const at = one.findIndex((value, place) => value !== two[place]);
    return at < 0 ? a - b : (one[at] ?? 0) < (two[at] ?? 0) ? -1 : 1;
  };
}

export const ofVariant = (runs: readonly RunReport[], variant: number): RunReport[] =>
  runs.filter((run) => run.variant === variant);

const whole = (runs: readonly RunReport[]): RunReport[] => runs.filter(({ complete }) => complete);

/** The halves of a recording, by time of arrival where it has any; a workload is endless, and seeds tell its parts apart. */
export function halvesOf(source: ProgramSource): readonly [ProgramSource, ProgramSource] {
  if (source.type === 'workload') return [source, source];
  const hasTimes = source.programs.every(({ arrivalMs }) => arrivalMs !== undefined);
  const inOrder = hasTimes
    ? source.programs.toSorted((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0))
    : source.programs;
  const half = Math.ceil(inOrder.length / 2);
  return [
    { ...source, programs: inOrder.slice(0, half) },
    { ...source, programs: inOrder.slice(half) },
  ];
}
