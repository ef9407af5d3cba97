import type { Axis, Lists } from './axes.js';
import { compare, type Comparison, comparisonsOf, orderComparisonsOf, sentenceOf } from './comparison.js';
import { axesOf, groupsOf, isSweep, type Plan, type Variant } from './plan.js';
import type { Recommendation } from './recommendation.js';
import { verdictAmong } from './verdicts.js';
import type { RunReport } from './worker.js';

/** The output of `maitred sim --json`. Fields may be added; none is renamed or dropped under the same version. */
export type SimDocument = Readonly<ReturnType<typeof documentOf>>;

export function documentOf(
  plan: Plan,
  runs: readonly RunReport[],
  advice: readonly string[],
  recommendation: Recommendation | undefined,
  isStopped = false,
) {
  const verdicts = new Map(
    groupsOf(plan).flatMap((group) =>
      verdictAmong(plan, runs, group).rows.map(({ at, outcome }) => [group[at], outcome]),
    ),
  );
  const ratiosFor = (pair: Comparison) => {
    const outcome = sentenceOf(plan, runs, pair);
    return {
      ...namedOf(plan, pair.other),
      against: namedOf(plan, pair.first),
      outcome,
      ...compare(plan, runs, pair).ratios,
    };
  };
  return {
    version: 1 as const,
    /** False when it was stopped, so that runs are missing or incomplete. */
    complete:
      !isStopped && runs.length === plan.variants.length * plan.seeds.length && runs.every(({ complete }) => complete),
    settings: settingsOf(plan),
    /** Without their programs, which would be most of the document. */
    runs: runs.map((run) => ({ ...namedOf(plan, run.variant), ...run, variant: undefined, completions: undefined })),
    /** For each variant but those that others are compared with, over the seeds of which both have a complete run. */
    ratios: comparisonsOf(plan).map((pair) => ({ verdict: verdicts.get(pair.other), ...ratiosFor(pair) })),
    /** The worth of the order alone: `plas` to `fcfs-window`. */
    order: orderComparisonsOf(plan).map(ratiosFor),
    advice,
    recommendation: recommendation?.sentence,
  };
}

/** Policy and balancer of a variant, and the settings that vary, where any but these do. */
function namedOf(plan: Plan, index: number) {
  const { policy, balancer, values } = plan.variants[index] as Variant;
  return { policy, balancer, ...(isSweep(plan) && { settings: picked(values, axesOf(plan.lists)) }) };
}

const picked = <T extends object>(all: T, axes: readonly (Axis & keyof T)[]): Pick<T, Axis & keyof T> =>
  Object.fromEntries(axes.map((axis) => [axis, all[axis]])) as Pick<T, Axis & keyof T>;

/** The command line's settings, and their defaults. Those that vary are left out. */
function settingsOf(plan: Plan) {
  const { source, programs, gapMsMax, variants, announceEnds, lists, seeds, isExact, margin } = plan;
  const { arrivals, engines, preset, engine, conditions, config } = variants[0] as Variant;
  const axes = axesOf(lists);
  const common = <T>(axis: Axis, value: T): T | undefined => (axes.includes(axis) ? undefined : value);
  const unless = (names: readonly Axis[]) =>
    Object.fromEntries(names.filter((axis) => axes.includes(axis)).map((axis) => [axis, undefined]));
  return {
    workload: source.type === 'workload' ? source.workload : undefined,
    trace: source.type === 'trace' ? source.file : undefined,
    format: source.type === 'trace' ? source.format : undefined,
    ...(isSweep(plan) && { varied: picked(lists, axes) as Lists }),
    arrivals:
      arrivals.type === 'open'
        ? { type: 'open' as const, rate_per_second: common('rate', arrivals.ratePerSecond), cv: arrivals.cv }
        : arrivals.type === 'closed'
          ? { type: 'closed' as const, concurrency: common('concurrency', arrivals.concurrency) }
          : arrivals,
    programs,
    engines: common('engines', engines),
    preset: common('preset', preset),
    gap_max_seconds: gapMsMax === Infinity ? null : gapMsMax / 1000,
    kv_tokens: variants.every((each) => each.engine.preset.kvTokens === engine.preset.kvTokens)
      ? engine.preset.kvTokens
      : undefined,
    ...(engine.host !== undefined && {
      host_tokens: engine.host.tokens,
      host_gbps: engine.host.bytesPerSecond / 1e9,
      host_writes: engine.host.writes,
    }),
    announced_ends: announceEnds,
    conditions: common('conditions', { name: conditions.name, ...conditions.conditions }),
    policies: lists.policy,
    balancers: lists.balancer,
    seeds,
    exact: isExact,
    margin,
    config: {
      ...config,
      policy: { ...config.policy, name: undefined, ...unless(['foresight', 'tenants']) },
      admission: { ...config.admission, ...unless(['window', 'gate', 'hostGate', 'retention']) },
      balancer: { ...config.balancer, name: undefined },
    },
  };
}
