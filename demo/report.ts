import type { PrefixCounters } from '../processes/engines.js';
import type { GatewayView } from '../processes/gateway.js';
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
    p50Seconds: quantile(seconds, 0.5),
    p99Seconds: quantile(seconds, 0.99),
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

type Column = readonly [title: string, cell: (summary: Summary) => string];

const COLUMNS: readonly Column[] = [
  ['policy', ({ policy }) => policy],
  ['mean s', ({ meanSeconds }) => number(meanSeconds)],
  ['p50 s', ({ p50Seconds }) => number(p50Seconds)],
  ['p99 s', ({ p99Seconds }) => number(p99Seconds)],
  ['cached', ({ hitRate }) => percent(hitRate)],
  ['queued s', ({ gateway }) => number(gateway.queuedSecondsMean)],
  ['failed', ({ failures }) => String(failures)],
];
/** Columns that only a real gateway can fill. */
const LIVE_COLUMNS: readonly Column[] = [
  ['right', ({ gateway, programs }) => `${gateway.programsRight}/${programs}`],
  ['overhead', ({ overheadShare }) => percent(overheadShare)],
];

const LEGEND = `Times are seconds of the real machine. p99: of fewer than 100 programs, the
slowest. cached: share of prompt tokens that the engines had in cache. queued:
time of a program’s calls in the gateway’s queue.`;
const LIVE_LEGEND = `right: programs whose calls the gateway recognised as one program’s.
overhead: share of program time that this machine adds.`;

/** Difference up to which a demo, which is one run, shows nothing. */
const MARGIN = 0.02;
const BAR_WIDTH = 50;

/** Where the figures come from: virtual time, or a gateway and engines. */
export type How = 'simulated' | 'live';

/**
 * The verdict, a picture of it, the table, and its subject, in 80 columns.
 * @param about lines on what was played, and how
 */
export function text(summaries: readonly Summary[], about: readonly string[], how: How): string {
  const isLive = how === 'live';
  return [
    ...verdicts(summaries),
    '',
    `Mean program time, s (${how}): shorter is better`,
    ...bars(summaries),
    '',
    ...table(summaries, isLive ? [...COLUMNS, ...LIVE_COLUMNS] : COLUMNS),
    '',
    LEGEND,
    ...(isLive ? [LIVE_LEGEND] : []),
    '',
    ...about,
  ].join('\n');
}

/** How far the means of live runs lie from those of the same runs simulated, as a sentence and a table. */
export function agreement(simulated: readonly Summary[], live: readonly Summary[], about: readonly string[]): string {
  const of = (summary: Summary) => simulated.find(({ policy }) => policy === summary.policy);
  const far = live.map((summary) => Math.abs(summary.meanSeconds / (of(summary)?.meanSeconds ?? NaN) - 1));
  const overhead = Math.max(...live.map(({ overheadShare }) => overheadShare));
  return [
    `Live check: mean program times within ${percent(Math.max(...far))} of simulated ones;`,
    `up to ${percent(overhead)} of the live times is overhead of this machine.`,
    '',
    ...table(live, [
      ['policy', ({ policy }) => policy],
      ['live s', ({ meanSeconds }) => number(meanSeconds)],
      ['simulated s', (summary) => number(of(summary)?.meanSeconds ?? NaN)],
      ['cached', ({ hitRate }) => percent(hitRate)],
      ['simulated', (summary) => percent(of(summary)?.hitRate ?? null)],
      ...LIVE_COLUMNS,
    ]),
    '',
    LIVE_LEGEND,
    '',
    ...about,
  ].join('\n');
}

/** Two lines on each policy but the first: how much sooner or later its programs ended, and its use of the caches. */
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
  speedup >= 1 ? `${speedup.toFixed(2)}x sooner` : `${(1 / speedup).toFixed(2)}x later`;

function bars(summaries: readonly Summary[]): string[] {
  const longest = Math.max(...summaries.map(({ meanSeconds }) => meanSeconds));
  const width = Math.max(...summaries.map(({ policy }) => policy.length));
  return summaries.map(({ policy, meanSeconds }) => {
    const length = Math.max(1, Math.round((BAR_WIDTH * meanSeconds) / longest));
    return `${policy.padEnd(width)}  ${'█'.repeat(length)} ${number(meanSeconds)}`;
  });
}

export function table(summaries: readonly Summary[], columns: readonly Column[]): string[] {
  const rows = [
    columns.map(([title]) => title),
    ...summaries.map((summary) => columns.map(([, cell]) => cell(summary))),
  ];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(align).join('  ').trimEnd());
}

const number = (value: number) => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US'));
const percent = (part: number | null) => (part === null ? '-' : `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`);
const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const mean = (values: readonly number[]) => total(values) / values.length;

/**
 * Nearest-rank percentile: the least value such that this share of all is not above it. For few values, p99 is the
 * largest.
 */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN;
}
