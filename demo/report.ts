import { MARGIN, nearestRank } from '../lab/index.js';
import type { PrefixCounters } from '../processes/engines.js';
import type { GatewayView } from '../processes/gateway.js';
import { integer, number, percent, textTable } from '../text/index.js';
import type { ProgramOutcome } from './replay.js';

/** One policy's run. */
export interface Run {
  readonly policy: string;
  readonly seed: number;
  /** Speed-up over real time. Outcomes are in real time already; the gateway's view is not. */
  readonly speed: number;
  readonly outcomes: readonly ProgramOutcome[];
  readonly prefix: PrefixCounters;
  readonly view: GatewayView;
}

/** Summary of a run, in seconds of real time. */
export interface Summary {
  readonly policy: string;
  readonly programs: number;
  readonly meanSeconds: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly makespanSeconds: number;
  /** Share of the prompt tokens found in the engines' prefix caches, by their own counters; null: no counters. */
  readonly hitRate: number | null;
  readonly calls: number;
  readonly failures: number;
  /** The gateway's view of the same run. */
  readonly gateway: {
    readonly programs: number;
    /** Programs whose calls the gateway all assigned to one program that has no other calls. */
    readonly programsRight: number;
    readonly hitRate: number | null;
    /** Queueing of all calls of a program together. */
    readonly queuedSecondsMean: number;
    /** Calls promoted for waiting too long. */
    readonly promotions: number;
  };
  /** Share of program time in which calls were neither queued nor processed: this machine's overhead. */
  readonly overheadShare: number;
}

/** Summarises several runs of one policy as one, with all their programs; the makespan is their mean. */
export function summarize(policy: string, runs: readonly Run[]): Summary {
  const outcomes = runs.flatMap((run) => run.outcomes);
  const seconds = outcomes.map((outcome) => outcome.seconds).sort((a, b) => a - b);
  const makespans = runs.map((run) => Math.max(...run.outcomes.map((outcome) => outcome.seconds)));
  const sum = (read: (run: Run) => number) => total(runs.map(read));
  return {
    policy,
    programs: outcomes.length,
    meanSeconds: mean(seconds),
    p50Seconds: nearestRank(seconds, 0.5),
    p99Seconds: nearestRank(seconds, 0.99),
    makespanSeconds: mean(makespans),
    hitRate: share(
      sum(({ prefix }) => prefix.hits),
      sum(({ prefix }) => prefix.queries),
    ),
    calls: total(outcomes.map((outcome) => outcome.calls)),
    failures: outcomes.filter((outcome) => outcome.failure !== undefined).length,
    gateway: {
      programs: sum(({ view }) => view.programs),
      programsRight: sum((run) => countRight(run.outcomes)),
      hitRate: share(
        sum(({ view }) => view.cachedTokens),
        sum(({ view }) => view.promptTokens),
      ),
      queuedSecondsMean: sum(({ view, speed }) => view.queuedSeconds * speed) / outcomes.length,
      promotions: sum(({ view }) => view.promotions),
    },
    overheadShare: total(outcomes.map((outcome) => outcome.overheadSeconds)) / total(seconds),
  };
}

/** Number of programs whose calls were all assigned to one program, with no other program's calls. */
function countRight(outcomes: readonly ProgramOutcome[]): number {
  const takers = new Map<string, number>();
  for (const { seenAs } of outcomes) for (const id of seenAs) takers.set(id, (takers.get(id) ?? 0) + 1);
  return outcomes.filter(({ seenAs }) => seenAs.size === 1 && [...seenAs].every((id) => takers.get(id) === 1)).length;
}

/** Speedup of a policy over the first one: above 1, it is better. */
export interface Comparison {
  readonly policy: string;
  readonly against: string;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
}

export function compare(summaries: readonly Summary[]): Comparison[] {
  const [base, ...others] = summaries;
  if (base === undefined) return [];
  return others.map((other) => ({
    policy: other.policy,
    against: base.policy,
    mean: base.meanSeconds / other.meanSeconds,
    p50: base.p50Seconds / other.p50Seconds,
    p99: base.p99Seconds / other.p99Seconds,
  }));
}

const LEGEND = `Times are seconds of the real machine. p99: of fewer than 100 programs, the
slowest. cached: share of prompt tokens that the engines had in cache. queued:
time of a program’s calls in the gateway’s queue.`;
const LIVE_LEGEND = `right: programs whose calls the gateway recognised as one program’s.
overhead: share of program time that this machine adds.`;

/** In 80 columns. */
const WIDTH = 80;
const BAR_WIDTH = 50;

/** Where the figures come from: virtual time, or a gateway and engines. */
export type How = 'simulated' | 'live';

/**
 * The verdict, a picture of it, the table, and its subject, in 80 columns.
 * @param about lines on what was played, and how
 * @param bounds the same on engines of other efficiencies
 */
export function text(
  summaries: readonly Summary[],
  about: readonly string[],
  how: How,
  bounds: readonly Bound[] = [],
): string {
  const isLive = how === 'live';
  return [
    ...verdicts(summaries),
    ...bounds.flatMap(({ preset, comparisons }) => comparisons.map(({ policy, mean: ofMeans }) => `${policy} on ${preset}: ${changeOf(ofMeans)}`)), // prettier-ignore
    '',
    `Mean program time, s (${how}): shorter is better`,
    ...bars(summaries),
    '',
    ...table(summaries, isLive),
    '',
    LEGEND,
    ...(isLive ? [LIVE_LEGEND] : []),
    '',
    ...about,
  ].join('\n');
}

/** The verdict on engines of another efficiency. */
export interface Bound {
  readonly preset: string;
  readonly comparisons: readonly Comparison[];
}

/** Two lines on each policy but the first: how much faster or slower its programs were, and its use of the caches. */
function verdicts(summaries: readonly Summary[]): string[] {
  const [base] = summaries;
  return compare(summaries).flatMap(({ policy, against, mean: ofMeans, p99 }) => {
    const own = summaries.find((summary) => summary.policy === policy);
    const cached = `prompt tokens in cache: ${percent(base?.hitRate ?? null)} -> ${percent(own?.hitRate ?? null)}`;
    const slowest = Math.abs(p99 - 1) <= MARGIN ? 'slowest the same' : `slowest ${changeOf(p99)}`;
    const change =
      Math.abs(ofMeans - 1) <= MARGIN
        ? `programs at most ${100 * MARGIN} % different from ${against}`
        : `programs ${changeOf(ofMeans)} than ${against}, ${slowest}`;
    return [`${policy}: ${change}`, `${' '.repeat(policy.length)}  ${cached}`];
  });
}

const changeOf = (speedup: number): string =>
  speedup >= 1 ? `${speedup.toFixed(2)}x faster` : `${(1 / speedup).toFixed(2)}x slower`;

function bars(summaries: readonly Summary[]): string[] {
  const longest = Math.max(...summaries.map(({ meanSeconds }) => meanSeconds));
  const width = Math.max(...summaries.map(({ policy }) => policy.length));
  return summaries.map(({ policy, meanSeconds }) => {
    const length = Math.max(1, Math.round((BAR_WIDTH * meanSeconds) / longest));
    return `${policy.padEnd(width)}  ${'█'.repeat(length)} ${number(meanSeconds)}`;
  });
}

/** Columns that only a real gateway can fill come last. */
function table(summaries: readonly Summary[], isLive: boolean): string[] {
  const columns = [
    'mean s',
    'p50 s',
    'p99 s',
    'cached',
    'queued s',
    'failed',
    ...(isLive ? ['right', 'overhead'] : []),
  ];
  const rows = summaries.map(({ policy, gateway, programs, ...own }) => [
    policy,
    ...[own.meanSeconds, own.p50Seconds, own.p99Seconds].map(number),
    percent(own.hitRate),
    number(gateway.queuedSecondsMean),
    integer(own.failures),
    ...(isLive ? [`${gateway.programsRight}/${programs}`, percent(own.overheadShare)] : []),
  ]);
  return textTable('policy', [{ heading: '', columns }], rows, WIDTH);
}

const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const mean = (values: readonly number[]) => total(values) / values.length;
