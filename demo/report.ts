import type { PrefixCounters } from './engines.js';
import type { ProgramOutcome } from './replay.js';

/** One policy's run. */
export interface Run {
  readonly policy: string;
  readonly seed: number;
  readonly outcomes: readonly ProgramOutcome[];
  readonly prefix: PrefixCounters;
}

/** What a run came to, in seconds of real time. */
export interface Summary {
  readonly policy: string;
  readonly programs: number;
  readonly meanSeconds: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly makespanSeconds: number;
  /** Share of the prompt tokens that the engines found in their prefix caches. */
  readonly hitRate: number;
  readonly calls: number;
  readonly failures: number;
  /** Programs that the gateway took the calls for, and programs all of whose calls it took for one that is no other's. */
  readonly programsSeen: number;
  readonly programsRight: number;
  /** Share of program time that calls were neither queued nor worked on. */
  readonly overheadShare: number;
}

/** Several runs of one policy count as one with all their programs; the makespan is then their mean. */
export function summarize(policy: string, runs: readonly Run[]): Summary {
  const outcomes = runs.flatMap((run) => run.outcomes);
  const seconds = outcomes.map((outcome) => outcome.seconds).sort((a, b) => a - b);
  const makespans = runs.map((run) => Math.max(...run.outcomes.map((outcome) => outcome.seconds)));
  const owners = new Map<string, Set<ProgramOutcome>>();
  for (const outcome of outcomes)
    for (const id of outcome.seenAs) owners.set(id, (owners.get(id) ?? new Set()).add(outcome));
  const isRight = ({ seenAs }: ProgramOutcome) =>
    seenAs.size === 1 && [...seenAs].every((id) => owners.get(id)?.size === 1);
  return {
    policy,
    programs: outcomes.length,
    meanSeconds: mean(seconds),
    p50Seconds: quantile(seconds, 0.5),
    p99Seconds: quantile(seconds, 0.99),
    makespanSeconds: mean(makespans),
    hitRate: total(runs.map((run) => run.prefix.hits)) / total(runs.map((run) => run.prefix.queries)),
    calls: total(outcomes.map((outcome) => outcome.calls)),
    failures: outcomes.filter((outcome) => outcome.failure !== undefined).length,
    programsSeen: owners.size,
    programsRight: outcomes.filter(isRight).length,
    overheadShare: total(outcomes.map((outcome) => outcome.overheadSeconds)) / total(seconds),
  };
}

const COLUMNS: readonly [title: string, cell: (summary: Summary) => string][] = [
  ['policy', ({ policy }) => policy],
  ['mean s', ({ meanSeconds }) => number(meanSeconds)],
  ['p50 s', ({ p50Seconds }) => number(p50Seconds)],
  ['p99 s', ({ p99Seconds }) => number(p99Seconds)],
  ['makespan s', ({ makespanSeconds }) => number(makespanSeconds)],
  ['prefix hits', ({ hitRate }) => percent(hitRate)],
  ['calls', ({ calls }) => String(calls)],
  ['failed', ({ failures }) => String(failures)],
  ['programs seen', ({ programsSeen, programs }) => `${programsSeen} of ${programs}`],
  ['right', ({ programsRight }) => String(programsRight)],
  ['overhead', ({ overheadShare }) => percent(overheadShare)],
];

/** The table, and below it how the first policy compares with each other one. */
export function table(summaries: readonly Summary[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...summaries.map((summary) => COLUMNS.map(([, cell]) => cell(summary))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const [base, ...others] = summaries;
  const ratios = others.map(
    (other) =>
      `${other.policy} against ${base?.policy ?? ''}: mean ${ratio(base?.meanSeconds, other.meanSeconds)}, ` +
      `p99 ${ratio(base?.p99Seconds, other.p99Seconds)}, makespan ${ratio(base?.makespanSeconds, other.makespanSeconds)}`,
  );
  return [...lines, '', ...ratios].join('\n');
}

const ratio = (base = NaN, other: number) => `${(base / other).toFixed(2)}x`;
const number = (value: number) => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US'));
const percent = (share: number) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const mean = (values: readonly number[]) => total(values) / values.length;

/** The least value that is not below so large a share of all: of few values, p99 is the largest. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}
