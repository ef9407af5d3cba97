import { type Columns, scaled, spread, tailOf } from '../../lab/index.js';
import { integer, percent } from '../../text/index.js';
import type { PrintedRun } from './document.js';

export type Group = Columns<PrintedRun>;

/** The table's columns. @param isSweep whether the settings are many, and only the main figures are shown */
export const groupsOf = (runs: readonly PrintedRun[], isSweep: boolean): readonly Group[] => [
  { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
  { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
  {
    heading: '',
    columns: [
      { heading: 'ms/token', of: (run) => scaled(run.seconds_per_token.mean, 1000) },
      { heading: 'cached', of: (run) => run.prefix_hit_rate, show: percent },
      { heading: 'lost', of: (run) => run.lost, show: integer },
      { heading: 'refused', of: (run) => total(run.refused), show: integer },
    ],
  },
  ...(isSweep ? [] : [...rest(runs), ...kindsOf(runs)]),
];

const rest = (runs: readonly PrintedRun[]): readonly Group[] => [
  {
    heading: 'slowdown',
    columns: spread(runs, (run) => run.slowdown, 1, ['mean', tailOf(runs.map(({ slowdown }) => slowdown))]),
  },
  {
    heading: 'a second',
    columns: [
      { heading: 'programs', of: (run) => run.programs_per_second },
      { heading: 'calls', of: (run) => run.calls_per_second },
      { heading: 'tokens', of: (run) => run.output_tokens_per_second },
    ],
  },
  {
    heading: 'engines',
    columns: [
      { heading: 'busy', of: (run) => run.engine_busy, show: percent },
      { heading: 'KV used', of: (run) => run.kv_use, show: percent },
      { heading: 'preempted', of: (run) => run.preemptions, show: integer },
    ],
  },
  {
    heading: '',
    columns: [{ heading: 'makespan, s', of: (run) => run.makespan_seconds }],
  },
];

/** A group of columns for each kind of program of a mixture. */
function kindsOf(runs: readonly PrintedRun[]): Group[] {
  const kinds = [...new Set(runs.flatMap(({ by_workload }) => Object.keys(by_workload)))].sort();
  if (kinds.length < 2) return [];
  const tail = tailOf(
    runs.flatMap(({ by_workload }) => Object.values(by_workload).map((kind) => kind.program_seconds)),
  );
  return kinds.map((kind) => ({
    heading: kind,
    columns: [
      { heading: 'ms/token', of: (run) => scaled(run.by_workload[kind]?.seconds_per_token.mean ?? null, 1000) },
      { heading: 'mean, s', of: (run) => run.by_workload[kind]?.program_seconds.mean ?? null },
      { heading: `${tail}, s`, of: (run) => run.by_workload[kind]?.program_seconds[tail] ?? null },
    ],
  }));
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
