import type { GeneratorHealth, LoadSummary } from '../load.js';
import type { AbReport, Pairs } from './pairs.js';
import { judge, type Slo, type SloResult } from './slo.js';
import type { Target, TargetReport } from './target.js';

/** The output of `maitred load --json`. Fields may be added; none is renamed or dropped under the same version. */
export interface LoadDocument {
  readonly version: 1;
  /** False when it was stopped before its last program had ended. */
  readonly complete: boolean;
  readonly started_at: string;
  readonly elapsed_seconds: number;
  readonly runs: number;
  readonly programs_unfinished: number;
  readonly programs_too_long: number;
  /** The command line's settings, and their defaults. */
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly generator: ReturnType<typeof generatorOf>;
  readonly targets: readonly TargetReport[];
  /** Null with one target. */
  readonly ab: AbReport | null;
  readonly slo: readonly SloResult[];
}

export type Settings = Readonly<Record<string, string | number | boolean | null>>;

export interface Gathered {
  readonly settings: Settings;
  readonly targets: readonly Target[];
  readonly pairs: Pairs | undefined;
  readonly slos: readonly Slo[];
}

export function documentOf({ settings, targets, pairs, slos }: Gathered, summary: LoadSummary): LoadDocument {
  const reports = targets.map((target, index) => target.report(summary.targets[index]));
  const ab = pairs?.report(reports, summary.runs) ?? null;
  return {
    version: 1,
    complete: summary.complete,
    started_at: summary.startedAt.toISOString(),
    elapsed_seconds: summary.elapsedMs / 1000,
    runs: summary.runs,
    programs_unfinished: summary.programsUnfinished,
    programs_too_long: summary.programsTooLong,
    settings,
    warnings: summary.warnings,
    generator: generatorOf(summary.generator),
    targets: reports,
    ab,
    slo: slos.flatMap((slo) => judge(slo, reports, ab)),
  };
}

const generatorOf = (health: GeneratorHealth) => ({
  cpu_share: health.cpuShare,
  cpu_ms_per_call: health.cpuMsPerCall,
  calls_in_flight_max: health.callsInFlightMax,
  loop_lag_ms: health.loopLagMs,
  late_send_ms: health.lateSendMs,
});
