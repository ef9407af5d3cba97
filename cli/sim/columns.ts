import { type Columns, scaled, spread, tailOf } from '../../lab/index.js';
import { integer, percent } from '../../text/index.js';
import type { PrintedRun } from './document.js';

export type Group = Columns<PrintedRun>;

function quarters(runs: readonly PrintedRun[]): Group[] {
  const statistics = ['mean', tailOf(runs.flatMap(({ by_size }) => by_size.map(({ slowdown }) => slowdown)))] as const;
  return statistics.map((statistic) => ({
    heading: `${statistic}, by quarters of size`,
    columns: ['1st', '2nd', '3rd', '4th'].map((heading, quarter) => ({
      heading,
      of: (run) => run.by_size[quarter]?.slowdown[statistic] ?? null,
    })),
  }));
}

/** One table each. */
export const tables = (runs: readonly PrintedRun[]): readonly (readonly Group[])[] => [
  [
    { heading: 'ms per output token', columns: spread(runs, (run) => run.seconds_per_token, 1000) },
    { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
    {
      heading: '',
      columns: [
        { heading: 'lost', of: (run) => run.lost, show: integer },
        { heading: 'refused', of: (run) => total(run.refused), show: integer },
        { heading: 'retried', of: (run) => total(run.retries), show: integer },
      ],
    },
  ],
  [
    { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
    { heading: 'call in queue, s', columns: spread(runs, (run) => run.queue_seconds) },
  ],
  [
    {
      heading: 'slowdown',
      columns: spread(runs, (run) => run.slowdown, 1, ['mean', tailOf(runs.map(({ slowdown }) => slowdown))]),
    },
    ...quarters(runs),
    { heading: '', columns: [{ heading: 'Jain', of: (run) => run.jain_index }] },
  ],
  [
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
        { heading: 'cached', of: (run) => run.prefix_hit_rate, show: percent },
        { heading: 'preempted', of: (run) => run.preemptions, show: integer },
      ],
    },
    {
      heading: '',
      columns: [
        { heading: 'promoted', of: (run) => run.starvation_promotions, show: integer },
        { heading: 'failed', of: (run) => run.failed, show: integer },
        { heading: 'makespan, s', of: (run) => run.makespan_seconds },
      ],
    },
  ],
];

/** The one table of many settings. */
export const overview = (runs: readonly PrintedRun[]): readonly Group[] => [
  { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
  { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
  {
    heading: '',
    columns: [
      { heading: 'cached', of: (run) => run.prefix_hit_rate, show: percent },
      { heading: 'lost', of: (run) => run.lost, show: integer },
      { heading: 'refused', of: (run) => total(run.refused), show: integer },
    ],
  },
];

/** A group of columns for each kind of program of a mixture. */
export function kindsOf(runs: readonly PrintedRun[]): Group[] {
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
