import { hasFewWaits, type Ratio } from '../../lab/index.js';
import type { PolicyName } from '../../src/index.js';
import { type ColumnGroup, counted, integer, number, ratio, textTable } from '../../text/index.js';
import type { LoadDocument } from './document.js';
import type { AbReport } from './pairs.js';
import type { SloResult } from './slo.js';
import type { TargetReport } from './target.js';
import { columnGroups, errorExamples, errorRows, isNoneCompleted, NONE_COMPLETED, sizeRows, splitRows, targetText, workloadRows } from './rows.js'; // prettier-ignore

/** Parts of a document that its summary reads. */
export type Summarized = Omit<
  LoadDocument,
  'version' | 'started_at' | 'runs' | 'programs_too_long' | 'generator' | 'ab'
> & {
  readonly ab: Compared | null;
};

type Compared = Pick<AbReport, 'runs' | 'program_seconds' | 'ttft_seconds' | 'outcome'>;

/**
 * The document for people: tables, and lines for single facts.
 * @param width of the tables, in characters
 */
export function summaryOf(document: Summarized, width: number): string {
  const { targets, ab, warnings, slo } = document;
  const blocks = [
    [...(ab === null ? [] : [ab.outcome]), ...adviceOf(document)],
    headOf(document),
    ...(isNoneCompleted(targets) ? [[NONE_COMPLETED]] : figureTables(targets, width)),
    [...grid(errorRows(targets), width), ...errorExamples(targets).map((line) => `First ${line}`)],
    targets.flatMap(
      ({ name, worst_waiting }) =>
      worst_waiting === null ? [] : [`Longest wait${targets.length > 1 ? ` at ${name}` : ''}: ${number(worst_waiting.seconds)} s, of ${worst_waiting.program}`], // prettier-ignore
    ),
    ab === null ? [] : ratioLines(ab, targets, width),
    slo.map((result) => sloText(result, targets.length > 1, document.complete)),
    warnings.map((warning) => `Warning: ${warning}`),
  ];
  return `${blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')).join('\n\n')}\n`; // prettier-ignore
}

/** Figures of completed programs and their calls. */
function figureTables(targets: readonly TargetReport[], width: number): string[][] {
  const corner = targets.length > 1 ? 'target' : '';
  return [
    ...columnGroups(targets).map((groups) =>
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

function headOf({ targets, complete, elapsed_seconds, programs_unfinished }: Summarized): string[] {
  const names = aligned(targets.map(({ name }) => (targets.length > 1 ? `${name}  ` : '')));
  const places = aligned(targets.map((target) => `${targetText(target)}:`));
  const listed = targets.map(({ programs, failed, calls, calls_cancelled }, index) => {
    const failures = failed === 0 ? '' : `, ${integer(failed)} failed`;
    const cancelled = calls_cancelled === 0 ? '' : `, ${integer(calls_cancelled)} cancelled behind failed ones`;
    return `${names[index]}${places[index]} ${counted(programs, 'program')}${failures}; ${counted(calls, 'call')}${cancelled}`; // prettier-ignore
  });
  const stopped = `Stopped after ${number(elapsed_seconds)} s with ${counted(programs_unfinished, 'program')} under way, in no figure.`; // prettier-ignore
  return [...listed, ...(complete ? [] : [stopped])];
}

function aligned(texts: readonly string[]): string[] {
  const width = Math.max(...texts.map((text) => text.length));
  return texts.map((text) => text.padEnd(width));
}

interface Grid {
  readonly corner: string;
  readonly groups: readonly ColumnGroup[];
  readonly rows: readonly (readonly string[])[];
}

const grid = ({ corner, groups, rows }: Grid, width: number): string[] =>
  rows.length === 0 ? [] : textTable(corner, groups, rows, width);

function ratioLines(ab: Compared, targets: readonly TargetReport[], width: number): string[] {
  const rows = RATIOS.map(([name, of]) => [name, ...RATIO_STATISTICS.map((statistic) => ratioText(of(ab)[statistic]))]);
  return [
    ...textTable(ratioName(targets), [{ heading: '', columns: RATIO_STATISTICS }], rows, width),
    intervalsText(ab),
  ];
}

/** How the ratios of two targets are to be read. */
export const ratioName = ([a, b]: readonly TargetReport[]): string => `${b?.name ?? ''} / ${a?.name ?? ''}`;

export const RATIO_STATISTICS = ['mean', 'p50', 'p95', 'p99'] as const;
/** Compared times of two targets. */
export const RATIOS = [
  ['program', (ab: Compared) => ab.program_seconds],
  ['to first token', (ab: Compared) => ab.ttft_seconds],
] as const;

export const intervalsText = ({ runs }: Pick<AbReport, 'runs'>): string =>
  runs > 1
    ? `In brackets: 95 % confidence over ${integer(runs)} runs.`
    : 'No confidence interval: it takes several runs.';

const PASS_THROUGH: PolicyName = 'pass-through';

/** What the load itself leaves unanswered, and the load that would answer it. */
export function adviceOf({ targets, settings }: Pick<LoadDocument, 'targets' | 'settings'>): string[] {
  const { rate_per_second: rate, speed, arrivals, concurrency } = settings;
  const lines = targets.flatMap(({ name, queue_grew, programs_per_second }) => {
    if (queue_grew !== true) return [];
    const slower =
      typeof rate === 'number' && programs_per_second !== null
        ? `--rate below ${number(programs_per_second / Number(speed ?? 1))}`
        : 'a lower --speed';
    return [`${targets.length > 1 ? `${name}: a` : 'A'} drain, not a steady state: the queue grew throughout. Its times grow with the number of programs; try ${slower}.`]; // prettier-ignore
  });
  // At a pass-through, no call ever waits, whatever the load.
  const queues = targets.filter(({ policy }) => policy !== PASS_THROUGH).map(({ queue_seconds }) => queue_seconds);
  if (queues.length > 0 && queues.every(hasFewWaits)) {
    const more = typeof rate === 'number' ? `--rate above ${number(rate)}` : arrivals === 'closed' ? `--concurrency above ${String(concurrency)}` : 'a higher --speed'; // prettier-ignore
    const found = queues.every(({ max }) => max === 0)
      ? 'No call waited at the gateway, so its policy changed nothing'
      : 'At least 95 of 100 calls never waited at the gateway, so its policy could change little';
    lines.push(`${found}: try ${more}.`);
  }
  return lines;
}

export const ratioText = (value: Ratio): string =>
  ratio(value.ratio) + (value.low === null ? '' : ` (${ratio(value.low)}–${ratio(value.high)})`);

/** @param complete whether the run was; the verdict on a stopped run covers only programs that had ended */
export function sloText({ expression, target, value, met }: SloResult, several: boolean, complete: boolean): string {
  const where = target === null || !several ? '' : ` at ${target}`;
  return `${met ? 'Met' : 'Missed'}: ${expression}${where}; it was ${value === null ? 'not measured' : number(value)}${complete ? '' : ', of a run that was stopped'}`;
}
