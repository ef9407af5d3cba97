import {
  type Change,
  type Distribution,
  headline,
  isMore,
  meanOf,
  overSamePrograms,
  p99Of,
  pairedRatio,
  pairOf,
  type Ratio,
  type Statistic,
} from '../../lab/index.js';
import { number } from '../../text/index.js';
import { placeOf, valuesText } from './axes.js';
import { isLost, loadOf } from './overload.js';
import { axesOf, choicesOf, circumstancesOf, groupsOf, type Plan, settingOf } from './plan.js';
import type { RunReport } from './worker.js';

export const COMPARED = ['seconds_per_token', 'program_seconds', 'ttft_seconds', 'slowdown'] as const;
const STATISTICS = ['mean', 'p50', 'p95', 'p99'] as const satisfies readonly Statistic[];
type DistributionRatios = Readonly<Record<(typeof STATISTICS)[number], Ratio>>;

export interface Ratios extends Readonly<Record<(typeof COMPARED)[number], DistributionRatios>> {
  readonly makespan_seconds: Ratio;
}

export interface Comparison {
  readonly first: number;
  readonly other: number;
}

/** Each variant with the first of its circumstances. Where only circumstances differ, with the first of all. */
export const comparisonsOf = (plan: Plan): Comparison[] =>
  groupsOf(plan).flatMap(([first = 0, ...others]) => others.map((other) => ({ first, other })));

/** Each `plas` with the `fcfs-window` of the same window and gate, unless it is compared with that already. */
export function orderComparisonsOf(plan: Plan): Comparison[] {
  const axes = axesOf(plan.lists);
  return groupsOf(plan).flatMap(([, ...group]) =>
    group.flatMap((other) => {
      const { policy, values = {} } = plan.variants[other] ?? {};
      const first = group.find((each) => {
        const own = plan.variants[each];
        return (
          own?.policy === 'fcfs-window' && axes.every((axis) => axis === 'policy' || own.values[axis] === values[axis])
        );
      });
      return policy !== 'plas' || first === undefined ? [] : [{ first, other }];
    }),
  );
}

/** A variant against another, over all seeds, and over those that both sustain; over these alone, where chance overloads one of both more often. */
export function compare(plan: Plan, all: readonly RunReport[], pair: Comparison) {
  const runs = all.filter(({ complete, variant }) => complete && (variant === pair.first || variant === pair.other));
  const twins = twinsOf(runs, pair);
  const ratios = ratiosOf(twins);
  const change = changeOf(plan, runs, pair, twins, ratios);
  const { calm: own = [], isChance } = calmOf(plan, runs, pair);
  if (own.length === 0) return { ratios, change };
  const of = `${own.length / 2} of ${plan.seeds.length} seeds`;
  const both = twinsOf(own, pair);
  // Seconds are those that the table has, of all seeds.
  const calm = {
    of,
    ...changeOf(plan, own, pair, both, ratiosOf(both, plan.seeds.length)),
    failed: change.failed,
    firstTokenP99Seconds: [null, null] as const,
  };
  return { ratios, change: isChance ? calm : { ...change, calm } };
}

/** A variant against another, in a sentence; where several circumstances vary, with its own. */
export function sentenceOf(plan: Plan, all: readonly RunReport[], { first, other }: Comparison): string {
  const { change } = compare(plan, all, { first, other });
  const place = placeOf(plan.variants[other]?.values ?? {}, circumstancesOf(plan.lists));
  if (choicesOf(plan) > 1)
    return `${place === '' ? '' : `${place}, `}${headline({ name: settingOf(plan, other), against: settingOf(plan, first), ...change }, plan.margin)}`;
  if (isLost(all, other))
    return `${place}: too many programs fail to compare times (${change.failed.map(number).join(' -> ')}).`;
  const against = `those ${valuesText(plan.variants[first]?.values ?? {}, axesOf(plan.lists))}`;
  return headline({ name: place, against, ...change }, plan.margin);
}

/** The runs of seeds that both sustain, if others overload one of both, and whether chance explains these; none: too few are left. */
function calmOf(plan: Plan, runs: readonly RunReport[], pair: Comparison) {
  const [one, other] = [loadOf(plan, runs, pair.first), loadOf(plan, runs, pair.other)];
  const [more = 0, fewer = 0] = [one.overloaded, other.overloaded].map(
    (own, at, both) => [...own].filter((seed) => both[1 - at]?.has(seed) === false).length,
  );
  const isChance = !isMore(more, fewer) && !isMore(fewer, more);
  const calm = runs.filter(({ seed }) => one.sustained.has(seed) && other.sustained.has(seed));
  const isSome = one.overloaded.size + other.overloaded.size > 0 && calm.length >= (isChance ? 2 : 4);
  return isSome ? { calm, isChance } : {};
}

/** @param tried the number of all seeds, where these are only some: that of pairs that would tell grows with it */
function ratiosOf(twins: readonly Twins[], tried?: number): Ratios {
  const ratio = (valueOf: Figure) => ({ ...ratioOf(twins, valueOf), ...(tried !== undefined && { pairs: tried }) });
  const ratios = (name: (typeof COMPARED)[number]) =>
    Object.fromEntries(STATISTICS.map((each) => [each, ratio((run) => run[name][each])])) as DistributionRatios;
  return {
    ...(Object.fromEntries(COMPARED.map((name) => [name, ratios(name)])) as Record<
      (typeof COMPARED)[number],
      DistributionRatios
    >),
    makespan_seconds: ratio((run) => run.makespan_seconds),
  };
}

function changeOf(
  { isExact }: Plan,
  all: readonly RunReport[],
  pair: Comparison,
  twins: readonly Twins[],
  ratios: Ratios,
): Omit<Change, 'name' | 'against' | 'calm'> {
  const { program_seconds, seconds_per_token } = ratios;
  const runs = [pair.first, pair.other].map((variant) => all.filter((run) => run.variant === variant));
  const two = <T>(of: (own: readonly RunReport[]) => T) => runs.map(of) as unknown as readonly [T, T];
  const least = (of: (run: RunReport) => Distribution) => Math.min(...runs.flat().map((run) => of(run).count));
  return {
    programs: program_seconds,
    firstToken: ratios.ttft_seconds,
    firstTokenP99Seconds: two((own) => meanOf(own.map(({ ttft_seconds: { p99 } }) => p99))),
    perToken: seconds_per_token.mean,
    kinds: kindsOf(twins),
    counts: { programs: least((run) => run.program_seconds), calls: least((run) => run.ttft_seconds) },
    cached: two((own) => meanOf(own.map(({ prefix_hit_rate }) => prefix_hit_rate))),
    failed: two((own) => meanOf(own.map(({ failed }) => failed)) ?? 0),
    single: isExact ? undefined : 'one seed',
  };
}

/** The times of each kind of program; the p99 of few is their slowest, which chance decides. */
function kindsOf(twins: readonly Twins[]): NonNullable<Change['kinds']> {
  const kinds = [...new Set(twins.flat().flatMap(({ by_workload }) => Object.keys(by_workload)))];
  const all = kinds.map((kind) => {
    const of = (name: 'program_seconds' | 'ttft_seconds', valueOf: (times: Distribution) => number | null) =>
      ratioOf(twins, ({ by_workload: { [kind]: own } }) => (own === undefined ? null : valueOf(own[name])));
    const programs = { mean: of('program_seconds', ({ mean }) => mean), p99: of('program_seconds', p99Of) };
    return [
      kind,
      { programs, firstToken: { p50: of('ttft_seconds', ({ p50 }) => p50), p99: of('ttft_seconds', p99Of) } },
    ] as const;
  });
  return Object.fromEntries(all);
}

type Twins = readonly [RunReport, RunReport];
type Figure = (run: RunReport) => number | null;

/** The runs of each seed under both settings, over the programs that both completed. */
const twinsOf = (runs: readonly RunReport[], { first, other }: Comparison): Twins[] =>
  runs.flatMap((run) => {
    const twin = runs.find((each) => each.variant === other && each.seed === run.seed);
    return run.variant !== first || twin === undefined ? [] : [overSamePrograms(run, twin)];
  });

const ratioOf = (twins: readonly Twins[], of: Figure): Ratio => pairedRatio(twins.flatMap((two) => pairOf(...two, of)));
