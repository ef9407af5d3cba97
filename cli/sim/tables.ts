import { type Ratio, tailOf } from '../../lab/index.js';
import { type ColumnGroup, integer, number, ratio, textTable } from '../../text/index.js';
import { type Axis, isChoice, type Value, valuesText } from './axes.js';
import { cellsOf, headingsOf, kindsOf, overview, tables } from './columns.js';
import type { PrintedRun, SimDocument } from './document.js';
import { labelsOf, listsOf, shownAxes, valuesOf, variantsOf } from './variants.js';

/**
 * The document for people: tables, and lines for rare facts.
 * @param width of the tables, in characters
 */
export function tablesOf(document: SimDocument, width: number): string {
  const { runs, settings, complete, advice } = document;
  const variants = variantsOf(document);
  const isSweep = settings.varied !== undefined;
  const [corner = '', ...labels] = labelsOf(document, variants.map(({ values }) => values)); // prettier-ignore
  const blocks = [
    [...headlines(document), ...advice],
    [titleOf(document)],
    ...(isSweep ? [overview(runs)] : [...tables(runs), kindsOf(runs)]).map((groups) =>
      textTable(
        corner,
        headingsOf(groups),
        variants.map((variant, at) => [labels[at] ?? '', ...cellsOf(groups, variant.runs)]),
        width,
      ),
    ),
    isSweep ? [] : variants.flatMap(({ name, runs: own }) => worstWait(name, own)),
    refusals(runs),
    ratioTable(document, width),
    isSweep ? ['All figures: --json. Charts: --html FILE.'] : [],
    complete ? [] : ['Stopped: some runs are missing or not whole; ratios are of whole ones.'],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** The outcome in sentences: the recommendation, and each comparison unless several settings vary in a sweep. */
export function headlines(document: SimDocument, recommendation = document.recommendation): string[] {
  const isTold = document.settings.varied === undefined || shownAxes(document).length === 1;
  return [
    ...(recommendation === undefined ? [] : [recommendation]),
    // A recommendation repeats the outcome that it follows.
    ...(isTold ? document.ratios.map(({ outcome }) => outcome).filter((outcome) => recommendation?.includes(outcome) !== true) : []), // prettier-ignore
  ];
}

/** The simulation in a line. */
export function titleOf(document: SimDocument): string {
  const { workload, trace, arrivals, engines, preset, seeds, exact } = document.settings;
  const programs = Math.max(0, ...document.runs.map((run) => run.programs));
  const lists = listsOf(document);
  const each = (axis: Axis, value: Value | undefined) => lists[axis]?.join(', ') ?? value ?? '';
  const what = `${workload ?? trace ?? ''}: ${integer(programs)} programs ${arrivalsText(arrivals, each)}`;
  const seedText = exact
    ? 'whatever the seed'
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

/** The program with the longest wait, over all seeds. */
function worstWait(label: string, runs: readonly PrintedRun[]): string[] {
  const waits = runs.flatMap(({ worst_waiting }) => worst_waiting ?? []);
  const worst = waits.toSorted((a, b) => b.seconds - a.seconds)[0];
  return worst === undefined ? [] : [`Longest wait under ${label}: ${number(worst.seconds)} s, of ${worst.program}`];
}

function refusals(runs: readonly PrintedRun[]): string[] {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  return codes.map((code) => {
    const counts = runs.map(({ refused }) => refused[code] ?? 0);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return `Refused calls, ${code}: ${least === most ? '' : `${integer(least)} to `}${integer(most)} a run`;
  });
}

function ratioTable(document: SimDocument, width: number): string[] {
  const { ratios, settings } = document;
  if (ratios.length === 0) return [];
  const { groups, rows, against, note } = ratioRows(document);
  const [corner = '', ...labels] = labelsOf(document, ratios.map(valuesOf));
  return [
    ...textTable(settings.varied === undefined ? `times ${against}` : corner, groups, rows.map((row, at) => [labels[at] ?? '', ...row]), width), // prettier-ignore
    ...(settings.varied === undefined ? [] : [`As multiples of ${against}.`]),
    note,
  ];
}

interface RatioRows {
  readonly groups: readonly ColumnGroup[];
  /** One for each of the document's ratios. */
  readonly rows: readonly (readonly string[])[];
  /** The setting of 1. */
  readonly against: string;
  /** How sure they are. */
  readonly note: string;
}

/** The ratios of a document that has any. */
export function ratioRows(document: SimDocument): RatioRows {
  const { ratios, runs, settings } = document;
  const of = (each: Ratio): string =>
    ratio(each.ratio) + (each.low === null ? '' : ` (${ratio(each.low)}–${ratio(each.high)})`);
  const compared = [
    ['per output token', 'seconds_per_token', 'mean'],
    ['program', 'program_seconds', 'mean'],
    ['to first token', 'ttft_seconds', 'p50'],
  ] as const;
  const axes = shownAxes(document);
  // Where settings are compared in several circumstances, these are not of its name.
  const named = settings.varied !== undefined && axes.some(isChoice) ? axes.filter(isChoice) : axes;
  const pairs = Math.max(0, ...ratios.map(({ program_seconds }) => program_seconds.mean.pairs));
  return {
    groups: [
      ...compared.map(([heading, name, middle]) => ({ heading, columns: [middle, tailOf(runs.map((run) => run[name]))] })), // prettier-ignore
      { heading: '', columns: ['makespan'] },
    ],
    rows: ratios.map((each) => [
      ...compared.flatMap(([, name, middle]) => [of(each[name][middle]), of(each[name].p99)]),
      of(each.makespan_seconds),
    ]),
    against: ratios[0] === undefined ? '' : valuesText(valuesOf(ratios[0].against), named),
    note: settings.exact
      ? 'Exact: programs arrive at recorded times, so that chance plays no part.'
      : pairs > 1
        ? `In brackets: 95 % confidence over ${pairs} seeds.`
        : 'No confidence interval: it takes several seeds.',
  };
}
