import { number } from '../../text/index.js';
import type { LoadSummary } from '../runs.js';
import type { Pairs } from './pairs.js';
import { judge, type Slo } from './slo.js';
import type { Target, TargetReport } from './target.js';

/** The output of `maitred load --json`. Fields may be added; none is renamed or dropped under the same version. */
export type LoadDocument = Readonly<ReturnType<typeof documentOf>>;

export type Settings = Readonly<Record<string, string | number | boolean | null>>;

/** A mean slowdown below which the estimate of times alone is wrong, not imprecise. */
const SLOWDOWN_MIN = 0.95;

const baseWarning = ({ url, slowdown: { mean } }: TargetReport): string[] =>
  mean === null || mean >= SLOWDOWN_MIN ? [] : [`Programs at ${url} took ${number(mean)} times as long as estimated alone: something slowed the short calls before the run, so slowdowns are too small. Repeat when nothing else runs.`]; // prettier-ignore

export function documentOf(
  settings: Settings,
  targets: readonly Target[],
  pairs: Pairs | undefined,
  slos: readonly Slo[],
  summary: LoadSummary,
) {
  const reports = targets.map((target, index) => target.report(summary.targets[index]));
  const ab = pairs?.report(reports, summary.runs) ?? null;
  return {
    version: 1 as const,
    /** False when it was stopped before its last program had ended. */
    complete: summary.complete,
    started_at: summary.startedAt.toISOString(),
    elapsed_seconds: summary.elapsedMs / 1000,
    runs: summary.runs,
    programs_unfinished: summary.programsUnfinished,
    programs_too_long: summary.programsTooLong,
    settings,
    warnings: [...summary.warnings, ...reports.flatMap(baseWarning)],
    generator: summary.generator,
    targets: reports,
    /** Null with one target. */
    ab,
    slo: slos.flatMap((slo) => judge(slo, reports, ab)),
  };
}
