import { type Column, type Columns, gridLines, gridOf, intervalText, scaled, spread, tailOf } from '../../lab/index.js';
import { counted, integer, percent } from '../../text/index.js';
import type { Axis, Value } from './axes.js';
import type { SimDocument } from './document.js';
import { isSweep, labelsOf, type Plan, type Variant } from './plan.js';
import { ratioLines } from './ratios.js';
import type { RunReport } from './worker.js';

/**
 * The document for people: the outcome, and a table.
 * @param all the runs of the plan, as far as they have begun
 * @param width of the tables, in characters
 * @param fragment how to set what is recommended instead of the first: lines
 */
export function tablesOf(
  plan: Plan,
  all: readonly RunReport[],
  document: SimDocument,
  width: number,
  fragment: readonly string[] = [],
) {
  const runs = all.filter((run) => run.complete);
  const ended = plan.variants.map((_, at) => runs.filter(({ variant }) => variant === at));
  const [corner = '', ...labels] = labelsOf(
    plan,
    plan.variants.map((_, at) => at),
  );
  const rows = ended.flatMap((own, at) => (own.length > 0 ? [[labels[at] ?? '', own] as const] : []));
  const blocks = [
    document.complete ? [] : ['Stopped: runs that had not ended are left out.'],
    [...document.advice, ...(document.recommendation === undefined ? [] : [document.recommendation])],
    fragment,
    ratioLines(plan, runs, width),
    [titleOf(plan)],
    gridLines(gridOf(corner, groupsOf(runs, isSweep(plan)), rows), width),
    notesOf(plan, document, runs),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function titleOf({ source, programs, variants, lists, seeds, isExact }: Plan): string {
  const { arrivals, engines, preset } = variants[0] as Variant;
  const each = (axis: Axis, value: Value) => lists[axis]?.join(', ') ?? value;
  const come =
    arrivals.type === 'closed'
      ? `${each('concurrency', arrivals.concurrency)} at a time`
      : arrivals.type === 'trace'
        ? 'at recorded times'
        : `at ${each('rate', arrivals.ratePerSecond)} a second${arrivals.cv === 1 ? '' : ` (cv ${arrivals.cv})`}`;
  const seedText = isExact
    ? 'the seed has no effect'
    : seeds.length === 1
      ? `seed ${seeds.join()}`
      : `means over seeds ${rangeText(seeds)}`;
  const of = source.type === 'workload' ? source.workload : source.file;
  return `${of}: ${counted(programs, 'program')} ${come}, ${each('engines', engines)} x ${each('preset', preset)}, ${seedText}`;
}

/** As the command line takes them. */
function rangeText(seeds: readonly number[]): string {
  const isRange = seeds.length > 2 && seeds.every((seed, at) => at === 0 || seed === (seeds[at - 1] ?? 0) + 1);
  return isRange ? `${seeds[0]}..${seeds.at(-1)}` : seeds.join(', ');
}

/** Meanings of the table’s words, and the figures that it leaves out. */
function notesOf({ seeds, isExact }: Plan, { ratios }: SimDocument, runs: readonly RunReport[]): string[] {
  return [
    ...(runs.some(({ failed }) => failed > 0)
      ? [
          'Failed programs: one of their calls ended without an answer, refused, broken or cancelled for good by its client. Ratios are over the programs that both settings completed, means over all that each did.',
        ]
      : []),
    ...(ratios.length === 0 || isExact ? [] : [intervalText(seeds.length, 'seeds')]),
    'All figures: --json.',
  ];
}

type Group = Columns<RunReport>;

const PROGRAMS: Column<RunReport> = { heading: 'programs/s', of: (run) => run.programs_per_second };

/** The table's columns. @param isSweep whether the settings are many, and only the main figures are shown */
const groupsOf = (runs: readonly RunReport[], isSweep: boolean): readonly Group[] => [
  { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
  { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
  {
    heading: '',
    columns: [
      ...(isSweep
        ? [PROGRAMS]
        : [{ heading: 'ms/token', of: (run: RunReport) => scaled(run.seconds_per_token.mean, 1000) }]),
      { heading: 'cached', of: (run) => run.prefix_hit_rate, show: percent },
      { heading: 'failed', of: (run) => run.failed },
    ],
  },
  ...unansweredOf(runs),
  ...(isSweep ? [] : [...rest(runs), ...kindsOf(runs)]),
];

function unansweredOf(runs: readonly RunReport[]): Group[] {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  const columns = codes.map((code) => ({ heading: code, of: (run: RunReport) => run.refused[code] ?? 0 }));
  return codes.length === 0 ? [] : [{ heading: 'calls without an answer', columns }];
}

const rest = (runs: readonly RunReport[]): readonly Group[] => [
  {
    heading: 'slowdown',
    columns: spread(runs, (run) => run.slowdown, 1, ['mean', tailOf(runs.map(({ slowdown }) => slowdown))]),
  },
  {
    heading: 'a second',
    columns: [
      { ...PROGRAMS, heading: 'programs' },
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
  { heading: '', columns: [{ heading: 'makespan, s', of: (run) => run.makespan_seconds }] },
];

function kindsOf(runs: readonly RunReport[]): Group[] {
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
      { heading: `first ${tail}, s`, of: (run) => run.by_workload[kind]?.ttft_seconds[tail] ?? null },
    ],
  }));
}
