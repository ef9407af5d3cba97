import { number } from '../../text/index.js';
import type { LoadSummary } from '../runs.js';
import type { Compared, Pairs } from './pairs.js';
import { judge, type Slo } from './slo.js';
import type { Target } from './target.js';

/** The output of `maitred load --json`. Fields may be added; none is renamed or dropped under the same version. */
export type LoadDocument = Readonly<ReturnType<typeof documentOf>>;

/** Parts of a document that the summary and the advice read. */
export type Summarized = Omit<LoadDocument, 'ab'> & {
  readonly ab: Compared | null;
  /** Whether its targets are of a run each. */
  readonly isApart?: true;
};

export type Settings = Readonly<Record<string, string | number | boolean | null>>;

export function documentOf(
  settings: Settings,
  targets: readonly Target[],
  pairs: Pairs | undefined,
  slos: readonly Slo[],
  summary: LoadSummary,
) {
  // One for both, or their slowdowns could not be compared.
  const base = Math.min(...targets.map(({ baseMax }) => baseMax));
  const reports = targets.map((target, index) => target.report(summary.targets[index], base));
  const ab = pairs?.report(reports, summary.runs) ?? null;
  return {
    version: 1 as const,
    /** False when it was stopped before its last program had ended. */
    complete: summary.complete,
    started_at: summary.startedAt.toISOString(),
    elapsed_seconds: summary.elapsedMs / 1000,
    runs: summary.runs,
    programs_unfinished: summary.programsUnfinished,
    settings,
    warnings: [
      ...summary.warnings,
      ...(base === 1
        ? []
        : [
            `Something slowed the short calls before the run: programs took as little as ${number(base)} of their time alone as estimated. Slowdowns are corrected by this, but may still be too small: repeat when nothing else runs.`,
          ]),
    ],
    generator: summary.generator,
    targets: reports,
    /** Null with one target. */
    ab,
    slo: slos.flatMap((slo) => judge(slo, reports, ab)),
  };
}
