import {
  type Distribution,
  headline,
  overSamePrograms,
  pairedRatio,
  type Ratio,
  type Statistic,
} from '../../lab/index.js';
import type { Conditions } from '../../sim/index.js';
import { isOf, nameOf, variantsOf, type Plan, type Variant } from './plan.js';
import type { RunReport } from './run.js';

/** The output of `maitred sim --json`. Fields may be added; none is renamed or dropped under the same version. */
export interface SimDocument {
  readonly version: 1;
  /** False when it was stopped, so that runs are missing or incomplete. */
  readonly complete: boolean;
  readonly settings: Settings;
  readonly runs: readonly PrintedRun[];
  /** For each variant but the first, over the seeds of which both have a complete run. */
  readonly ratios: readonly VariantRatios[];
  /** Sentences: a load under which the runs tell little, and a better one. */
  readonly advice: readonly string[];
}

/** A run as printed, without its programs, which would be most of the document. */
export type PrintedRun = Omit<RunReport, 'completions'> & { readonly completions: undefined };

/** Settings common to all runs: the command line's, and their defaults. */
export interface Settings extends Pick<
  Plan,
  'programs' | 'engines' | 'preset' | 'policies' | 'balancers' | 'seeds' | 'margin'
> {
  /** Whether seeds change nothing, so that there is one run of each variant. */
  readonly exact: boolean;
  /** Given as `workload`, or as `trace` and `format`. */
  readonly workload?: string;
  readonly trace?: string;
  readonly format?: string;
  readonly arrivals:
    | { readonly type: 'open'; readonly rate_per_second: number; readonly cv: number }
    | { readonly type: 'closed'; readonly concurrency: number }
    | { readonly type: 'trace'; readonly speed: number };
  /** Length to which longer gaps were cut; null: none was cut. */
  readonly gap_max_seconds: number | null;
  readonly kv_tokens: number;
  readonly engine_priority: boolean;
  /** The conditions, with their name or file. */
  readonly conditions: { readonly name: string } & Conditions;
  /** The gateway's keys that affect a run, by the names of docs/CONFIG.md; without those that differ between runs. */
  readonly config: object;
}

const COMPARED = ['seconds_per_token', 'program_seconds', 'ttft_seconds', 'slowdown'] as const;
const STATISTICS = ['mean', 'p50', 'p95', 'p99'] as const satisfies readonly Statistic[];
type DistributionRatios = Readonly<Record<(typeof STATISTICS)[number], Ratio>>;

export interface VariantRatios extends Variant, Readonly<Record<(typeof COMPARED)[number], DistributionRatios>> {
  readonly against: Variant;
  /** The comparison as a sentence. */
  readonly outcome: string;
  readonly makespan_seconds: Ratio;
}

export function documentOf(plan: Plan, runs: readonly RunReport[], advice: readonly string[]): SimDocument {
  const wanted = plan.policies.length * plan.balancers.length * plan.seeds.length;
  return {
    version: 1,
    complete: runs.length === wanted && runs.every(({ complete }) => complete),
    settings: settingsOf(plan),
    runs: runs.map((run) => ({ ...run, completions: undefined })),
    ratios: ratiosOf(plan, runs),
    advice,
  };
}

function settingsOf(plan: Plan): Settings {
  const {
    source,
    arrivals,
    programs,
    gapMsMax,
    engines,
    preset,
    engine,
    conditions,
    config,
    policies,
    balancers,
    seeds,
    isExact,
    margin,
  } = plan;
  return {
    ...(source.type === 'workload' ? { workload: source.workload } : { trace: source.file, format: source.format }),
    arrivals:
      arrivals.type === 'open' ? { type: 'open', rate_per_second: arrivals.ratePerSecond, cv: arrivals.cv } : arrivals,
    programs,
    engines,
    preset,
    gap_max_seconds: gapMsMax === Infinity ? null : gapMsMax / 1000,
    kv_tokens: engine.preset.kvTokens,
    engine_priority: engine.scheduling === 'priority',
    conditions: { name: conditions.name, ...conditions.conditions },
    policies,
    balancers,
    seeds,
    exact: isExact,
    margin,
    config: {
      ...config,
      policy: { ...config.policy, name: undefined },
      balancer: { ...config.balancer, name: undefined },
    },
  };
}

function ratiosOf(plan: Plan, runs: readonly RunReport[]): VariantRatios[] {
  const [first, ...others] = variantsOf(plan);
  if (first === undefined) return [];
  return others.map((variant) => {
    const ratio = (valueOf: (run: RunReport) => number | null) => pairedRatio(pairsOf(runs, first, variant, valueOf));
    const ratios = (name: (typeof COMPARED)[number]) =>
      Object.fromEntries(STATISTICS.map((each) => [each, ratio((run) => run[name][each])])) as DistributionRatios;
    const compared = Object.fromEntries(COMPARED.map((name) => [name, ratios(name)])) as Record<
      (typeof COMPARED)[number],
      DistributionRatios
    >;
    return {
      ...variant,
      against: first,
      outcome: outcomeOf(plan, runs, [first, variant], compared),
      ...compared,
      makespan_seconds: ratio((run) => run.makespan_seconds),
    };
  });
}

function outcomeOf(
  plan: Plan,
  all: readonly RunReport[],
  variants: readonly [Variant, Variant],
  { program_seconds, ttft_seconds }: Pick<VariantRatios, 'program_seconds' | 'ttft_seconds'>,
): string {
  const runs = variants.map((variant) => all.filter((run) => isOf(run, variant) && run.complete));
  const two = <T>(of: (own: readonly RunReport[]) => T) => runs.map(of) as unknown as readonly [T, T];
  const least = (of: (run: RunReport) => Distribution) => Math.min(...runs.flat().map((run) => of(run).count));
  return headline(
    {
      name: nameOf(plan, variants[1]),
      against: nameOf(plan, variants[0]),
      programs: program_seconds,
      firstToken: ttft_seconds,
      counts: { programs: least((run) => run.program_seconds), calls: least((run) => run.ttft_seconds) },
      cached: two((own) => meanOf(own.map(({ prefix_hit_rate }) => prefix_hit_rate))),
      failed: two((own) => own.reduce((sum, { failed }) => sum + failed, 0)),
      single: plan.isExact ? undefined : 'one seed',
    },
    plan.margin,
  );
}

/** Mean of the known values; null without any. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** The value of each seed under both variants, over the programs that both completed. */
function pairsOf(
  runs: readonly RunReport[],
  first: Variant,
  other: Variant,
  valueOf: (run: RunReport) => number | null,
): (readonly [number, number])[] {
  const whole = runs.filter(({ complete }) => complete);
  return whole.flatMap((run) => {
    if (!isOf(run, first)) return [];
    const twin = whole.find((each) => isOf(each, other) && each.seed === run.seed);
    if (twin === undefined) return [];
    const [one, two] = overSamePrograms(run, twin).map(valueOf) as [number | null, number | null];
    return one === null || two === null ? [] : [[one, two] as const];
  });
}
