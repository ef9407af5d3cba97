import { type Change, type Distribution, meanOf, type Pair, pairedRatio, pairOf, type Ratio, ratioText, type Statistic, verdictOf } from '../../lab/index.js'; // prettier-ignore
import { loadOf } from './overload.js';
import { axesOf, choicesOf, type Plan } from './plan.js';
import type { RunReport } from './worker.js';

const COMPARED = ['seconds_per_token', 'program_seconds', 'ttft_seconds', 'slowdown'] as const;
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
export function comparisonsOf(plan: Plan): Comparison[] {
  const inEach = choicesInEach(plan);
  return plan.variants.flatMap((_, at) => (at % inEach === 0 ? [] : [{ first: at - (at % inEach), other: at }]));
}

/** Each `plas` with the `fcfs-window` of the same window and gate, unless it is compared with that already. */
export function orderComparisonsOf(plan: Plan): Comparison[] {
  const [inEach, axes] = [choicesInEach(plan), axesOf(plan.lists)];
  return plan.variants.flatMap(({ policy, values }, at) => {
    const first = plan.variants.findIndex(
      (other) =>
        other.policy === 'fcfs-window' &&
        axes.every((axis) => axis === 'policy' || other.values[axis] === values[axis]),
    );
    const isTold = [first, at].includes(at - (at % inEach));
    return policy !== 'plas' || first === -1 || isTold ? [] : [{ first, other: at }];
  });
}

const choicesInEach = (plan: Plan): number => {
  const choices = choicesOf(plan);
  return choices > 1 ? choices : plan.variants.length;
};

/** A variant against another, over all seeds. */
export function compare(plan: Plan, all: readonly RunReport[], pair: Comparison) {
  const runs = all.filter(({ complete, variant }) => complete && (variant === pair.first || variant === pair.other));
  const ratios = ratiosOf(runs, pair);
  const calm = calmOf(plan, runs, pair);
  return {
    runs,
    ratios,
    change: {
      ...changeOf(plan, runs, pair, ratios),
      // One seed in which a queue grows would outweigh all others.
      ...(calm && { ...firstTokensOf(calm.runs, pair, ratiosOf(calm.runs, pair)), firstTokenOf: ` in the ${calm.seeds.length} of ${plan.seeds.length} seeds that both sustain` }), // prettier-ignore
      sustained: calm && sustainedOf(plan, calm, pair, ratios.program_seconds.mean),
    },
  };
}

type Calm = NonNullable<ReturnType<typeof calmOf>>;

/** The seeds that both sustain, with their runs, if others overload one of both; undefined: none do, or too few are left. */
function calmOf(plan: Plan, runs: readonly RunReport[], pair: Comparison) {
  const [one, other] = [loadOf(plan, runs, pair.first), loadOf(plan, runs, pair.other)];
  const seeds = [...one.sustained].filter((seed) => other.sustained.has(seed));
  if (one.overloaded.size + other.overloaded.size === 0 || seeds.length < 2) return undefined;
  return { seeds, runs: runs.filter(({ seed }) => seeds.includes(seed)) };
}

/** Program times in those seeds, if they differ. */
function sustainedOf(plan: Plan, { seeds, runs }: Calm, pair: Comparison, all: Ratio): Change['sustained'] {
  const ratio = pairedRatio(pairsOf(runs, pair, (run) => run.program_seconds.mean));
  return ratioText(ratio) === ratioText(all)
    ? undefined
    : {
        text: `, ${ratioText(ratio)} in the ${seeds.length} of ${plan.seeds.length} seeds that both sustain`,
        isSooner: verdictOf(ratio, plan.margin) === 'sooner',
      };
}

function ratiosOf(runs: readonly RunReport[], comparison: Comparison): Ratios {
  const ratio = (valueOf: (run: RunReport) => number | null) => pairedRatio(pairsOf(runs, comparison, valueOf));
  const ratios = (name: (typeof COMPARED)[number]) =>
    Object.fromEntries(STATISTICS.map((each) => [each, ratio((run) => run[name][each])])) as DistributionRatios;
  return {
    ...(Object.fromEntries(COMPARED.map((name) => [name, ratios(name)])) as Record<(typeof COMPARED)[number], DistributionRatios>), // prettier-ignore
    makespan_seconds: ratio((run) => run.makespan_seconds),
  };
}

function changeOf(
  { isExact }: Plan,
  all: readonly RunReport[],
  pair: Comparison,
  ratios: Ratios,
): Omit<Change, 'name' | 'against'> {
  const { program_seconds, seconds_per_token } = ratios;
  const { runs, two } = sidesOf(all, pair);
  const least = (of: (run: RunReport) => Distribution) => Math.min(...runs.flat().map((run) => of(run).count));
  return {
    programs: program_seconds,
    ...firstTokensOf(all, pair, ratios),
    perToken: seconds_per_token.mean,
    counts: { programs: least((run) => run.program_seconds), calls: least((run) => run.ttft_seconds) },
    cached: two((own) => meanOf(own.map(({ prefix_hit_rate }) => prefix_hit_rate))),
    failed: two((own) => meanOf(own.map(({ failed }) => failed)) ?? 0),
    single: isExact ? undefined : 'one seed',
  };
}

function sidesOf(all: readonly RunReport[], { first, other }: Comparison) {
  const runs = [first, other].map((variant) => all.filter((run) => run.variant === variant));
  return { runs, two: <T>(of: (own: readonly RunReport[]) => T) => runs.map(of) as unknown as readonly [T, T] };
}

const firstTokensOf = (all: readonly RunReport[], pair: Comparison, { ttft_seconds }: Ratios) => ({
  firstToken: ttft_seconds,
  firstTokenP99Seconds: sidesOf(all, pair).two((own) => meanOf(own.map(({ ttft_seconds: { p99 } }) => p99))),
});

/** The value of each seed under both settings, over the programs that both completed. */
function pairsOf(runs: readonly RunReport[], { first, other }: Comparison, valueOf: (run: RunReport) => number | null) {
  return runs.flatMap((run): Pair[] => {
    if (run.variant !== first) return [];
    const twin = runs.find((each) => each.variant === other && each.seed === run.seed);
    return twin === undefined ? [] : pairOf(run, twin, valueOf);
  });
}
