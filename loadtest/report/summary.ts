import { type ColumnGroup, integer, number, ratio, type Ratio, textTable } from '../../lab/index.js';
import type { LoadDocument } from './document.js';
import type { SloResult } from './slo.js';
import type { TargetReport } from './target.js';
import { COLUMN_GROUPS, errorExamples, errorRows, isNoneCompleted, NONE_COMPLETED, sizeRows, splitRows, workloadRows } from './rows.js'; // prettier-ignore

/**
 * The document for people: tables, and lines for single facts.
 * @param width of the tables, in characters
 */
export function summaryOf(document: LoadDocument, width: number): string {
  const { targets, ab, warnings, slo } = document;
  const blocks = [
    headOf(document),
    ...(isNoneCompleted(targets) ? [[NONE_COMPLETED]] : figureTables(targets, width)),
    [...grid(errorRows(targets), width), ...errorExamples(targets).map((line) => `First ${line}`)],
    targets.flatMap(
      ({ name, worst_waiting }) =>
      worst_waiting === null ? [] : [`Longest wait${targets.length > 1 ? ` at ${name}` : ''}: ${number(worst_waiting.seconds)} s, of ${worst_waiting.program}`], // prettier-ignore
    ),
    ab === null ? [] : [...ratioLines(ab.program_seconds, width), ab.outcome],
    slo.map((result) => sloText(result, targets.length > 1, document.complete)),
    warnings.map((warning) => `Warning: ${warning}`),
  ];
  return `${blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')).join('\n\n')}\n`; // prettier-ignore
}

/** Figures of completed programs and their calls. */
function figureTables(targets: readonly TargetReport[], width: number): string[][] {
  const corner = targets.length > 1 ? 'target' : '';
  return [
    ...COLUMN_GROUPS.map((groups) =>
      textTable(
        corner,
        groups.map(({ heading, columns }) => ({ heading, columns: columns.map((column) => column.heading) })),
        targets.map((target) => [
          targets.length > 1 ? target.name : 'all',
          ...groups.flatMap(({ columns }) => columns.map(({ of, show = number }) => show(of(target)))),
        ]),
        width,
      ),
    ),
    grid(splitRows(targets), width),
    grid(sizeRows(targets), width),
    grid(workloadRows(targets), width),
  ];
}

function headOf({ targets, complete, elapsed_seconds, programs_unfinished }: LoadDocument): string[] {
  const listed = targets.map(({ name, url, model, server, programs, failed, calls, calls_cancelled }) => {
    const what = [model, server].filter((text) => text !== null).join(', ');
    const failures = failed === 0 ? '' : `, ${integer(failed)} failed`;
    const cancelled = calls_cancelled === 0 ? '' : `, ${integer(calls_cancelled)} cancelled behind failed ones`;
    return `${targets.length > 1 ? `${name}  ` : ''}${url}${what === '' ? '' : ` (${what})`}: ${integer(programs)} programs${failures}; ${integer(calls)} calls${cancelled}`; // prettier-ignore
  });
  const stopped = `Stopped after ${number(elapsed_seconds)} s with ${integer(programs_unfinished)} programs under way, which are in no figure.`; // prettier-ignore
  return [...listed, ...(complete ? [] : [stopped])];
}

interface Grid {
  readonly corner: string;
  readonly groups: readonly ColumnGroup[];
  readonly rows: readonly (readonly string[])[];
}

const grid = ({ corner, groups, rows }: Grid, width: number): string[] =>
  rows.length === 0 ? [] : textTable(corner, groups, rows, width);

function ratioLines(ratios: Readonly<Record<'mean' | 'p50' | 'p95' | 'p99', Ratio>>, width: number): string[] {
  const columns = ['mean', 'p50', 'p95', 'p99'] as const;
  const cells = columns.map((name) => ratioText(ratios[name]));
  const group = { heading: 'program times, in brackets 95 % intervals', columns };
  return [...textTable('B / A', [group], [['ratio', ...cells]], width), ''];
}

export const ratioText = (value: Ratio): string =>
  ratio(value.ratio) + (value.low === null ? '' : ` (${ratio(value.low)}–${ratio(value.high)})`);

/** @param complete whether the run was; the verdict on a stopped run covers only programs that had ended */
export function sloText({ expression, target, value, met }: SloResult, several: boolean, complete: boolean): string {
  const where = target === null || !several ? '' : ` at ${target}`;
  return `${met ? 'Met' : 'Missed'}: ${expression}${where}; it was ${value === null ? 'not measured' : number(value)}${complete ? '' : ', of a run that was stopped'}`;
}
