import { type Grid, gridLines, gridOf, intervalText, ratioText, tailOf } from '../../lab/index.js';
import { integer, number } from '../../text/index.js';
import { type Axis, isChoice, type Value, type Values, valuesText } from './axes.js';
import { kindsOf, overview, tables } from './columns.js';
import type { PrintedRun, SimDocument } from './document.js';
import { fragmentOf } from './scheduling.js';
import { labelsOf, listsOf, shownAxes, valuesOf, variantsOf } from './variants.js';

/**
 * The document for people: tables, and lines for rare facts.
 * @param width of the tables, in characters
 * @param better settings that are recommended instead of the first
 */
export function tablesOf(document: SimDocument, width: number, better?: Values): string {
  const { settings, complete, advice } = document;
  const runs = document.runs.filter((run) => run.complete);
  const variants = variantsOf({ ...document, runs });
  const isSweep = settings.varied !== undefined;
  const [corner = '', ...labels] = labelsOf(document, variants.map(({ values }) => values)); // prettier-ignore
  const blocks = [
    complete ? [] : ['Stopped: runs that had not ended are left out.'],
    [...headlines(document), ...advice],
    better === undefined ? [] : ['In the gateway’s YAML file:', ...fragmentOf(better)],
    [titleOf(document)],
    ...(isSweep ? [overview(runs)] : [...tables(runs), kindsOf(runs)]).map((groups) =>
      gridLines(
        gridOf(
          corner,
          groups,
          variants.map((variant, at) => [labels[at] ?? '', variant.runs]),
        ),
        width,
      ),
    ),
    isSweep ? [] : variants.flatMap(({ name, runs: own }) => worstWait(name, own)),
    refusals(runs),
    ratioTable(document, width),
    isSweep ? ['All figures: --json.'] : [],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** The outcome in sentences: the recommendation, and each comparison unless several settings vary in a sweep. */
function headlines(document: SimDocument): string[] {
  const { recommendation } = document;
  const isTold = document.settings.varied === undefined || shownAxes(document).length === 1;
  return [
    ...(recommendation === undefined ? [] : [recommendation]),
    // A recommendation repeats the outcome that it follows.
    ...(isTold ? [...document.ratios, ...document.order].map(({ outcome }) => outcome).filter((outcome) => recommendation?.includes(outcome) !== true) : []), // prettier-ignore
  ];
}

/** The simulation in a line. */
function titleOf(document: SimDocument): string {
  const { workload, trace, arrivals, engines, preset, seeds, exact } = document.settings;
  const programs = Math.max(0, ...document.runs.map((run) => run.programs));
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
  const [corner = '', ...labels] = labelsOf(document, ratios.map(valuesOf));
  const { grid, against, note } = ratioGrid(document, labels);
  const isSweep = settings.varied !== undefined;
  return [
    ...gridLines({ ...grid, corner: isSweep ? corner : `times ${against}` }, width),
    ...(isSweep ? [`As multiples of ${against}.`] : []),
    note,
  ];
}

/**
 * The ratios of a document that has any, with the setting of 1 and how sure they are.
 * @param labels one for each of the ratios
 */
function ratioGrid(
  document: SimDocument,
  labels: readonly string[],
): { readonly grid: Grid; readonly against: string; readonly note: string } {
  const { ratios, runs, settings } = document;
  const compared = [
    ['per output token', 'seconds_per_token', 'mean'],
    ['program', 'program_seconds', 'mean'],
    ['to first token', 'ttft_seconds', 'p50'],
  ] as const;
  const axes = shownAxes(document);
  // Where settings are compared in several circumstances, these are not of its name.
  const named = settings.varied !== undefined && axes.some(isChoice) ? axes.filter(isChoice) : axes;
  const pairs = Math.max(0, ...ratios.map(({ program_seconds }) => program_seconds.mean.pairs));
  const groups = [
    ...compared.map(([heading, name, middle]) => ({ heading, columns: [middle, tailOf(runs.map((run) => run[name]))] })), // prettier-ignore
    { heading: '', columns: ['makespan'] },
  ];
  const rows = ratios.map((each, at) => [
    labels[at] ?? '',
    ...compared.flatMap(([, name, middle]) => [ratioText(each[name][middle]), ratioText(each[name].p99)]),
    ratioText(each.makespan_seconds),
  ]);
  return {
    grid: { corner: '', groups, rows },
    against: ratios[0] === undefined ? '' : valuesText(valuesOf(ratios[0].against), named),
    note: settings.exact
      ? 'Exact: programs arrive at recorded times, so that chance plays no part.'
      : intervalText(pairs, 'seeds'),
  };
}
