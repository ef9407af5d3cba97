import { gridLines, gridOf, intervalText } from '../../lab/index.js';
import { integer } from '../../text/index.js';
import type { Axis, Value, Values } from './axes.js';
import { groupsOf } from './columns.js';
import type { PrintedRun, SimDocument } from './document.js';
import { fragmentOf } from './scheduling.js';
import { labelsOf, listsOf, shownAxes, variantsOf } from './variants.js';

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
  const blocks = [
    complete ? [] : ['Stopped: runs that had not ended are left out.'],
    [...headlines(document), ...advice],
    better === undefined ? [] : fragmentOf(better),
    [titleOf(document)],
    gridLines(gridOf(corner, groupsOf(runs, isSweep), rows), width),
    refusals(runs),
    [...(document.ratios.length === 0 || settings.exact ? [] : [intervalText(settings.seeds.length, 'seeds')]), 'All figures: --json.'], // prettier-ignore
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

function refusals(runs: readonly PrintedRun[]): string[] {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  return codes.map((code) => {
    const counts = runs.map(({ refused }) => refused[code] ?? 0);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return `Refused calls, ${code}: ${least === most ? '' : `${integer(least)} to `}${integer(most)} a run`;
  });
}
