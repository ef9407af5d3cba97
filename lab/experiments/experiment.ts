import type { BarChart, LineChart } from '../report/plot.js';
import type { Case, RecordingName } from './case.js';
import type { Results } from './results.js';
import type { Config } from './run-case.js';

/** One question, what is run to answer it, and what the answers are told by. */
export interface Experiment {
  /** In commands and file names. */
  readonly name: string;
  readonly title: string;
  /** What is asked and of what, in sentences. */
  readonly about: string;
  /** Those that it plays; it goes without those that there are not. */
  readonly recordings: readonly RecordingName[];
  readonly plan: (scale: Scale) => Plan;
}

export interface Plan {
  readonly cases: readonly Case[];
  /** Told of whatever results there are: a figure that is missing is left out or a dash. */
  readonly tell: (results: Results) => Block[];
}

/** How much is run. */
export interface Scale {
  /** Programs of a run, where so many are wanted. */
  readonly programs: (count: number) => number;
  /** Points of a sweep: all, or its first few. */
  readonly points: <T>(values: readonly T[]) => readonly T[];
  readonly recordings: readonly RecordingName[];
  /** The defaults that settings change. */
  readonly config: Config;
}

export type Block = Table | Chart | Findings;

/** Sentences that the figures bear out. */
export interface Findings {
  readonly type: 'findings';
  readonly sentences: readonly string[];
}

export interface Table {
  readonly type: 'table';
  readonly caption: string;
  readonly columns: readonly string[];
  /** A label, then figures. */
  readonly rows: readonly (readonly string[])[];
}

export type Chart = { readonly type: 'chart'; readonly name: string } & (
  { readonly lines: LineChart } | { readonly bars: BarChart }
);

const SMOKE_POINTS = 2;
const SMOKE_SHARE = 0.02;
const SMOKE_PROGRAMS_MIN = 8;

type Given = Pick<Scale, 'recordings' | 'config'>;

export const fullScale = (given: Given): Scale => ({
  programs: (count) => count,
  points: (values) => values,
  ...given,
});

/** Enough to see that all of it runs; its figures say nothing. */
export const smokeScale = (given: Given): Scale => ({
  programs: (count) => Math.max(SMOKE_PROGRAMS_MIN, Math.round(count * SMOKE_SHARE)),
  points: (values) => values.slice(0, SMOKE_POINTS),
  ...given,
});
