import type { Block } from '../report/plot.js';
import type { Case, RecordingName } from './case.js';
import type { Results } from './results.js';
import type { Config } from './run-case.js';

export interface Experiment {
  readonly name: string;
  readonly title: string;
  /** The question and its subject, in sentences. */
  readonly about: string;
  /** Recordings that it replays; missing ones are skipped. */
  readonly recordings: readonly RecordingName[];
  readonly plan: (scale: Scale) => {
    readonly cases: readonly Case[];
    /** Reports whatever results exist: a missing figure is left out or shown as a dash. */
    readonly tell: (results: Results) => Block[];
  };
}

export interface Scale {
  /** Programs of a run that has `count` at full scale. */
  readonly programs: (count: number) => number;
  /** Points of a sweep: all, or its first few. */
  readonly points: <T>(values: readonly T[]) => readonly T[];
  readonly recordings: readonly RecordingName[];
  readonly config: Config;
}

const SMOKE_POINTS = 2;
const SMOKE_SHARE = 0.02;
const SMOKE_PROGRAMS_MIN = 8;

type Given = Pick<Scale, 'recordings' | 'config'>;

export const fullScale = (given: Given): Scale => ({
  programs: (count) => count,
  points: (values) => values,
  ...given,
});

/** Just enough to see that everything runs; its figures mean nothing. */
export const smokeScale = (given: Given): Scale => ({
  programs: (count) => Math.max(SMOKE_PROGRAMS_MIN, Math.round(count * SMOKE_SHARE)),
  points: (values) => values.slice(0, SMOKE_POINTS),
  ...given,
});
