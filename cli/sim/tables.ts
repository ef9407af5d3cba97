import { type Columns, gridLines, gridOf, intervalText, scaled, spread, tailOf } from '../../lab/index.js';
import { integer, percent } from '../../text/index.js';
import { type Axis, type Lists, type Value, type Values, valuesText } from './axes.js';
import type { Named, PrintedRun, SimDocument } from './document.js';
import { axesOf } from './plan.js';
import { fragmentOf } from './scheduling.js';

/**
 * The document for people: the outcome, and a table.
 * @param width of the tables, in characters
 * @param better settings that are recommended instead of the first
 */
export function tablesOf(document: SimDocument, width: number, better?: Values): string {
  const { settings, complete, advice } = document;
  const runs = document.runs.filter((run) => run.complete);
  const variants = variantsOf({ ...document, runs });
  const isSweep = settings.varied !== undefined;
  const [corner = '', ...labels] = labelsOf(document, variants.map(({ values }) => values)); // prettier-ignore
  const rows = variants.map((variant, at) => [labels[at] ?? '', variant.runs] as const);
  const told = [...headlines(document), ...advice];
  const blocks = [
    complete ? [] : [stoppedText(document)],
    told,
    better === undefined ? [] : fragmentOf(better),
    [titleOf(document)],
    gridLines(gridOf(corner, groupsOf(runs, isSweep), rows), width),
    notesOf(document, runs, isSweep, told),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function stoppedText(document: SimDocument): string {
  const { runs, settings } = document;
  const cut = runs.filter((run) => !run.complete).map((run) => `${valuesText(valuesOf(run), shownAxes(document))}, seed ${run.seed}: ${integer(run.programs)} of ${integer(settings.programs)} programs`); // prettier-ignore
  return `Stopped: runs that had not ended are left out${cut.length === 0 ? '' : ` (${cut.join('; ')})`}.`;
}

function headlines(document: SimDocument): string[] {
  const { recommendation } = document;
  const isTold = document.settings.varied === undefined || shownAxes(document).length === 1;
  return [
    ...(recommendation === undefined ? [] : [recommendation]),
    // A recommendation repeats the outcome that it follows.
    ...(isTold ? [...document.ratios, ...document.order].map(({ outcome }) => outcome).filter((outcome) => recommendation?.includes(outcome) !== true) : []), // prettier-ignore
  ];
}

function titleOf(document: SimDocument): string {
  const { workload, trace, arrivals, engines, preset, seeds, exact } = document.settings;
  const programs = document.complete
    ? Math.max(...document.runs.map((run) => run.programs))
    : document.settings.programs;
  const lists = listsOf(document);
  const each = (axis: Axis, value: Value | undefined) => lists[axis]?.join(', ') ?? value ?? '';
  const what = `${workload ?? trace ?? ''}: ${integer(programs)} programs ${arrivalsText(arrivals, each)}`;
  const seedText = exact
    ? 'the seed has no effect'
    : seeds.length === 1
      ? `seed ${seeds.join()}`
      : `means over seeds ${seeds.join(', ')}`;
  return `${what}, ${each('engines', engines)} x ${each('preset', preset)}, ${seedText}`;
}

function arrivalsText(
  arrivals: SimDocument['settings']['arrivals'],
  each: (axis: Axis, value: Value | undefined) => Value,
): string {
  if (arrivals.type === 'closed') return `${each('concurrency', arrivals.concurrency)} at a time`;
  if (arrivals.type === 'trace') return 'at recorded times';
  return `at ${each('rate', arrivals.rate_per_second)} a second${arrivals.cv === 1 ? '' : ` (cv ${arrivals.cv})`}`;
}

/** A ratio's interval, in a sentence. */
const INTERVAL = /\d–\d[^ ]*\)/;

/** Meanings of the table’s words, and the figures that it leaves out. */
function notesOf(
  { ratios, settings }: SimDocument,
  runs: readonly PrintedRun[],
  isSweep: boolean,
  told: readonly string[],
): string[] {
  const hasIntervals = settings.seeds.length < 2 || told.some((line) => INTERVAL.test(line));
  return [
    ...(runs.some(({ failed }) => failed > 0)
      ? ['Failed programs: one of their calls ended without an answer, refused, broken or cancelled for good by its client.'] // prettier-ignore
      : []),
    ...(ratios.length === 0 || settings.exact || !hasIntervals ? [] : [intervalText(settings.seeds.length, 'seeds')]),
    isSweep ? 'All figures, such as slowdowns and what engines did: --json.' : 'All figures: --json.',
  ];
}

/** Settings that vary, with their values; policy and balancer in any case. */
const listsOf = ({ settings }: SimDocument): Lists =>
  settings.varied ?? { policy: settings.policies, balancer: settings.balancers };

const shownAxes = (document: SimDocument): Axis[] => axesOf(listsOf(document));

const valuesOf = ({ policy, balancer, settings }: Named): Values => settings ?? { policy, balancer };

function variantsOf(document: SimDocument): { readonly values: Values; readonly runs: readonly PrintedRun[] }[] {
  const axes = shownAxes(document);
  const byName = new Map<string, PrintedRun[]>();
  for (const run of document.runs) {
    const name = valuesText(valuesOf(run), axes);
    byName.set(name, [...(byName.get(name) ?? []), run]);
  }
  return [...byName.values()].map((runs) => ({ runs, values: runs[0] === undefined ? {} : valuesOf(runs[0]) }));
}

function labelsOf(document: SimDocument, rows: readonly Values[]): string[] {
  const axes = shownAxes(document);
  const cells = [axes, ...rows.map((values) => axes.map((axis) => String(values[axis] ?? '')))];
  if (document.settings.varied === undefined) return cells.map((row) => row.join(', '));
  const widths = axes.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

type Group = Columns<PrintedRun>;

/** The table's columns. @param isSweep whether the settings are many, and only the main figures are shown */
const groupsOf = (runs: readonly PrintedRun[], isSweep: boolean): readonly Group[] => [
  { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
  { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
  {
    heading: '',
    columns: [
      { heading: 'ms/token', of: (run) => scaled(run.seconds_per_token.mean, 1000) },
      { heading: 'cached', of: (run) => run.prefix_hit_rate, show: percent },
      { heading: 'failed', of: (run) => run.failed },
    ],
  },
  ...unansweredOf(runs),
  ...(isSweep ? [] : [...rest(runs), ...kindsOf(runs)]),
];

function unansweredOf(runs: readonly PrintedRun[]): Group[] {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  const columns = codes.map((code) => ({ heading: code, of: (run: PrintedRun) => run.refused[code] ?? 0 }));
  return codes.length === 0 ? [] : [{ heading: 'calls without an answer', columns }];
}

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
  { heading: '', columns: [{ heading: 'makespan, s', of: (run) => run.makespan_seconds }] },
];

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
