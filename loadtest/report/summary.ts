import { gridLines, intervalText, tailOf, type Columns, type Grid, gridOf, scaled, spread } from '../../lab/index.js';
import { counted, integer, leftAligned, number, percent } from '../../text/index.js';
import { adviceOf } from './advice.js';
import type { Summarized } from './document.js';
import { failedText } from './pairs.js';
import { sloName, type SloResult } from './slo.js';
import { cachedShare, leftText, type TargetReport } from './target.js';
import { ERROR_CLASSES } from '../load.js';

/**
 * The document for people: the outcome, a table, and lines for single facts.
 * @param width of the tables, in characters
 */
export function summaryOf(document: Summarized, width: number): string {
  const { targets, ab, warnings, slo } = document;
  const blocks = [
    document.complete ? [] : [partialOf(document)],
    [...(ab === null ? targets.flatMap(outcomeOf) : [ab.outcome]), ...adviceOf(document)],
    headOf(document),
    ...(targets.every(({ completed }) => completed === 0)
      ? [['No program was completed.']]
      : [figureGrid(targets), workloadGrid(targets)].map((grid) => gridLines(grid, width))),
    [...gridLines(errorGrid(targets), width), ...errorExamples(targets).map((line) => `First ${line}`)],
    slo.map((result) => sloText(result, targets.length > 1)),
    warnings.map((warning) => `Warning: ${warning}`),
    sureText([ab]),
  ];
  return textOf(blocks);
}

/** Blocks of lines with an empty line between them. */
export const textOf = (blocks: readonly (readonly string[])[]): string =>
  `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;

/** How sure the ratios of these comparisons are, where they have any, and why they may differ from a table. */
export function sureText(compared: readonly Summarized['ab'][]): string[] {
  const runs = compared.flatMap((ab) => (ab !== null && /\d–\d/.test(ab.outcome) ? [ab.runs] : []));
  return runs.length === 0
    ? []
    : [
        `${intervalText(Math.min(...runs), 'runs')} Ratios and times beside them are means of runs, those of the table are of all calls.`,
      ];
}

/** In the two digits that a few calls before the run bear. */
const rough = (value: number | null): string => number(value === null ? null : Number(value.toPrecision(2)));

function outcomeOf(target: TargetReport): string[] {
  const { program_seconds: program, slowdown, failed, url, engine_left: left } = target;
  const lost = failed === 0 ? '' : failedText(target, url);
  if (typeof left === 'string')
    return [`${leftText(target)}, so the times are not those of all its engines${lost && `; ${lost}`}.`];
  const [{ mean }, tail] = [program, tailOf([program])];
  if (mean === null) return lost === '' ? [] : [`${lost}.`];
  const slowed = slowdown.mean === null ? '' : `, a mean slowdown of about ${rough(slowdown.mean)}`;
  return [
    `${lost === '' ? 'Programs' : `${lost}; the others`} took ${number(mean)} s on average${slowed}; ${tail} ${number(program[tail])} s.`,
  ];
}

/** The programs that ended before a stop tend to be the short ones. */
const partialOf = ({ programs_unfinished, ab }: Summarized): string =>
  `Partial: stopped with ${counted(programs_unfinished, 'program')} under way, in no figure; those that had ended tend to be the short ones: let it finish.${ab === null ? '' : ' Ratios are of the programs that ended at both targets.'}`;

export function targetsText(targets: Targets): string[] {
  const names = leftAligned(targets.map(({ name }) => (targets.length > 1 ? `${name}  ` : '')));
  return targets.map((target, at) => `${names[at]}${targetText(target)}`);
}

function headOf({ targets }: Summarized): string[] {
  const places = leftAligned(targetsText(targets).map((text) => `${text}:`));
  return targets.map(({ programs, failed, calls, calls_cancelled }, index) => {
    const failures = failed === 0 ? '' : `, ${integer(failed)} failed`;
    const cancelled = calls_cancelled === 0 ? '' : `, ${integer(calls_cancelled)} cancelled behind failed ones`;
    return `${places[index]} ${counted(programs, 'program')}${failures}; ${counted(calls, 'call')}${cancelled}`;
  });
}

function sloText(result: SloResult, several: boolean): string {
  const value = result.value === null ? 'not measured' : number(result.value);
  return `${sloName(result, several)}: ${result.met ? 'met' : 'missed'} (${value}).`;
}

type Targets = readonly TargetReport[];

/** Of completed programs and their calls. @param labels of the rows, below one that says what they are */
export function figureGrid(targets: Targets, [corner = '', ...labels] = namesOf(targets)): Grid {
  const groups: Columns<TargetReport>[] = [
    { heading: 'program, s', columns: spread(targets, (target) => target.program_seconds) },
    {
      heading: 'of it, on average',
      columns: [
        { heading: 'queue', of: (target) => target.program_queue_seconds.mean },
        { heading: 'engine', of: (target) => target.program_engine_seconds.mean },
        { heading: 'tools', of: (target) => target.program_tool_seconds.mean },
      ],
    },
    { heading: 'call to first token, s', columns: spread(targets, (target) => target.ttft_seconds) },
    {
      heading: '',
      columns: [
        { heading: 'ms/token', of: (target) => scaled(target.seconds_per_token.mean, 1000) },
        { heading: 'cached', of: cachedShare, show: percent },
        { heading: 'slowdown', of: (target) => target.slowdown.mean, show: rough },
        { heading: 'program alone, s', of: (target) => target.alone_seconds, show: rough },
      ],
    },
    {
      heading: 'a second',
      columns: [
        { heading: 'programs', of: (target) => target.programs_per_second },
        { heading: 'calls', of: (target) => target.calls_per_second },
        { heading: 'tokens', of: (target) => target.output_tokens_per_second },
      ],
    },
  ];
  return gridOf(
    corner,
    groups,
    targets.map((target, at) => [labels[at] ?? '', [target]]),
  );
}

function workloadGrid(targets: Targets): Grid {
  const kinds = targets.flatMap(({ by_workload }) => Object.values(by_workload));
  type Kind = (typeof kinds)[number];
  const tail = tailOf(kinds.map(({ program_seconds }) => program_seconds));
  const groups: Columns<Kind>[] = [
    { heading: '', columns: [{ heading: 'programs', of: (kind) => kind.programs, show: integer }] },
    { heading: 'program, s', columns: spread(kinds, (kind) => kind.program_seconds, 1, ['mean', 'p50', tail]) },
    { heading: '', columns: [{ heading: 'slowdown', of: (kind) => kind.slowdown.mean, show: rough }] },
  ];
  const rows = targets.flatMap((target) =>
    Object.entries(target.by_workload).map(([name, kind]) => [`${prefix(target, targets)}${name}`, [kind]] as const),
  );
  return gridOf('by workload', groups, rows);
}

function errorGrid(targets: Targets): Grid {
  const seen = ERROR_CLASSES.filter((name) => targets.some(({ errors }) => errors[name] > 0));
  return {
    corner: 'failed calls',
    groups: [{ heading: '', columns: targets.map((target) => (targets.length > 1 ? target.name : 'calls')) }],
    rows: seen.map((name) => [name, ...targets.map(({ errors }) => integer(errors[name]))]),
  };
}

const errorExamples = (targets: Targets): string[] =>
  targets.flatMap((target) =>
    Object.entries(target.error_examples).map(([name, said]) => `${prefix(target, targets)}${name}: ${said}`),
  );

function targetText({ url, model, server, policy }: TargetReport): string {
  const what = [model, server, policy && `policy ${policy}`].filter((text) => typeof text === 'string').join(', ');
  return what === '' ? url : `${url} (${what})`;
}

const namesOf = (targets: Targets): string[] =>
  targets.length > 1 ? ['target', ...targets.map(({ name }) => name)] : ['', 'all'];
const prefix = (target: TargetReport, targets: Targets): string => (targets.length > 1 ? `${target.name}, ` : '');
