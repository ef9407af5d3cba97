import { InvalidArgumentError } from 'commander';
import { didYouMean } from '../../sidecar/config/index.js';
import type { RunReport } from '../sim/run.js';

/** An upper bound on a time that users feel, such as `ttft p99 < 5s`. */
export interface Objective {
  readonly text: string;
  readonly metric: (typeof METRICS)[keyof typeof METRICS];
  readonly statistic: (typeof STATISTICS)[number];
  readonly limitSeconds: number;
}

/** Short names of a run's times. */
const METRICS = {
  ttft: 'ttft_seconds',
  program: 'program_seconds',
  token: 'seconds_per_token',
  itl: 'inter_token_seconds',
  queue: 'queue_seconds',
} as const satisfies Readonly<Record<string, keyof RunReport>>;
const STATISTICS = ['mean', 'p50', 'p95', 'p99', 'max'] as const;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 1e-3, '': 1, s: 1, m: 60, h: 3600 };
const SHAPE = /^\s*(\w+)[.\s]+(\w+)\s*<\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/;

/** Reads objectives of an option that may be repeated. Names are short, or those of `load --slo`. */
export function objectives(text: string, before: readonly Objective[] = []): readonly Objective[] {
  const [, name = '', statistic = '', digits = '', unit = ''] = SHAPE.exec(text) ?? [];
  if (digits === '') throw new InvalidArgumentError(`It must be such as "ttft p99 < 5s": METRIC STATISTIC < TIME.`);
  const metric = Object.entries(METRICS).find((names) => names.includes(name))?.[1];
  if (metric === undefined)
    throw new InvalidArgumentError(`"${name}" is none of ${wordsOf(name, Object.keys(METRICS))}`);
  const meant = STATISTICS.find((each) => each === statistic);
  if (meant === undefined)
    throw new InvalidArgumentError(`"${statistic}" is none of ${wordsOf(statistic, STATISTICS)}`);
  const limitSeconds = Number(digits) * (UNIT_SECONDS[unit] ?? NaN);
  return [...before, { text: text.trim(), metric, statistic: meant, limitSeconds }];
}

const wordsOf = (word: string, known: readonly string[]) => `${known.join(', ')}${didYouMean(word, known)}`;

/** Mean over the runs, in seconds; null where a run has no value. */
export function valueOf({ metric, statistic }: Objective, runs: readonly RunReport[]): number | null {
  const values = runs.map((run) => run[metric][statistic]);
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length;
}

export function isMet(objective: Objective, runs: readonly RunReport[]): boolean {
  const value = valueOf(objective, runs);
  return value !== null && value < objective.limitSeconds;
}

/** Sum of the shares by which the runs exceed their objectives; 0: all are met. */
export function excessOf(all: readonly Objective[], runs: readonly RunReport[]): number {
  return all.reduce((sum, objective) => {
    if (isMet(objective, runs)) return sum;
    const value = valueOf(objective, runs);
    return sum + (value === null ? Infinity : value / objective.limitSeconds);
  }, 0);
}
