import { type Distribution, statisticsOf, tailOf } from '../../lab/index.js';
import { type ColumnGroup, integer, number, percent } from '../../text/index.js';
import { ERROR_CLASSES } from '../records.js';
import { cachedShare, type TargetReport } from './target.js';

/** A figure of a target, and its format. */
export interface Column {
  readonly heading: string;
  readonly of: (target: TargetReport) => number | null;
  readonly show?: (value: number | null) => string;
}

/** Rows under groups of columns; without rows nothing is shown. */
export interface Rows {
  readonly corner: string;
  readonly groups: readonly ColumnGroup[];
  readonly rows: readonly (readonly string[])[];
}

interface Group {
  readonly heading: string;
  readonly columns: readonly Column[];
}

/** Columns of the terminal's report on each target, a table for each list of groups. */
export function columnGroups(targets: readonly TargetReport[]): readonly (readonly Group[])[] {
  const spread = (of: (target: TargetReport) => Distribution, scale = 1): Column[] =>
    statisticsOf(targets.map(of)).map((heading) => ({
      heading,
      of: (target) => {
        const value = of(target)[heading];
        return value === null ? null : value * scale;
      },
    }));
  return [
    [
      { heading: 'program, s', columns: spread((target) => target.program_seconds) },
      { heading: 'slowdown', columns: spread((target) => target.slowdown) },
      { heading: '', columns: [{ heading: 'Jain', of: (target) => target.jain_index }] },
    ],
    [
      { heading: 'time to first token, s', columns: spread((target) => target.ttft_seconds) },
      { heading: 'between tokens, ms', columns: spread((target) => target.inter_token_seconds, 1000) },
    ],
    [
      { heading: 'call in gateway queue, s', columns: spread((target) => target.queue_seconds) },
      {
        heading: 'a second',
        columns: [
          { heading: 'programs', of: (target) => target.programs_per_second },
          { heading: 'calls', of: (target) => target.calls_per_second },
          { heading: 'tokens', of: (target) => target.output_tokens_per_second },
        ],
      },
      { heading: 'prompts', columns: [{ heading: 'cached', of: cachedShare, show: percent }] },
    ],
  ];
}

export const NONE_COMPLETED = 'No program was completed.';

export const isNoneCompleted = (targets: readonly TargetReport[]): boolean =>
  targets.every(({ completed }) => completed === 0);

/** The split of programs' time. */
export function splitRows(targets: readonly TargetReport[]): Rows {
  const columns = ['queue', 'engine', 'tools', 'critical path'];
  return {
    corner: 'mean seconds of a program',
    groups: [{ heading: '', columns }],
    rows: targets.map((target) => [
      named(target, targets),
      number(target.program_queue_seconds.mean),
      number(target.program_engine_seconds.mean),
      number(target.program_tool_seconds.mean),
      number(target.critical_path_seconds.mean),
    ]),
  };
}

/** Quarters of the programs by their tokens, the smallest first. */
export function sizeRows(targets: readonly TargetReport[]): Rows {
  const tail = tailOf(targets.flatMap(({ by_size }) => by_size.map(({ program_seconds }) => program_seconds)));
  return {
    corner: 'by size',
    groups: [
      { heading: '', columns: ['tokens', 'programs'] },
      { heading: 'program, s', columns: ['mean', tail] },
      { heading: 'slowdown', columns: ['mean', tail] },
      { heading: 'mean seconds in', columns: ['queue', 'engine', 'tools'] },
    ],
    rows: targets.flatMap((target) =>
      target.by_size.map((size, quarter) => [
        `${prefix(target, targets)}${quarterName(quarter)}`,
        size.tokens_min === null ? '-' : `${integer(size.tokens_min)}–${integer(size.tokens_max)}`,
        integer(size.programs),
        ...[size.program_seconds, size.slowdown].flatMap((each) => [number(each.mean), number(each[tail])]),
        number(size.queue_seconds_mean),
        number(size.engine_seconds_mean),
        number(size.tool_seconds_mean),
      ]),
    ),
  };
}

export function workloadRows(targets: readonly TargetReport[]): Rows {
  const kinds = targets.flatMap(({ by_workload }) => Object.values(by_workload));
  const tail = tailOf(kinds.map(({ program_seconds }) => program_seconds));
  return {
    corner: 'by workload',
    groups: [
      { heading: '', columns: ['programs'] },
      { heading: 'program, s', columns: ['mean', 'p50', tail] },
      { heading: 'slowdown', columns: ['mean', tail] },
    ],
    rows: targets.flatMap((target) =>
      Object.entries(target.by_workload).map(([name, { programs, program_seconds, slowdown }]) => [
        `${prefix(target, targets)}${name}`,
        integer(programs),
        ...[program_seconds.mean, program_seconds.p50, program_seconds[tail], slowdown.mean, slowdown[tail]].map(
          number,
        ),
      ]),
    ),
  };
}

/** Only classes that occurred. */
export function errorRows(targets: readonly TargetReport[]): Rows {
  const seen = ERROR_CLASSES.filter((name) => targets.some(({ errors }) => errors[name] > 0));
  return {
    corner: 'failed calls',
    groups: [{ heading: '', columns: targets.map((target) => (targets.length > 1 ? target.name : 'calls')) }],
    rows: seen.map((name) => [name, ...targets.map(({ errors }) => integer(errors[name]))]),
  };
}

/** The first failed call's message, for each class. */
export const errorExamples = (targets: readonly TargetReport[]): string[] =>
  targets.flatMap((target) =>
    Object.entries(target.error_examples).map(([name, said]) => `${prefix(target, targets)}${name}: ${said}`),
  );

export const quarterName = (quarter: number): string =>
  ['smallest quarter', 'second', 'third', 'largest quarter'][quarter] ?? '';

const named = (target: TargetReport, targets: readonly TargetReport[]): string => (targets.length > 1 ? target.name : 'all'); // prettier-ignore
const prefix = (target: TargetReport, targets: readonly TargetReport[]): string => (targets.length > 1 ? `${target.name}, ` : ''); // prettier-ignore
