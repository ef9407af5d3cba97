import { type Columns, type Grid, gridOf, scaled, spread, tailOf } from '../../lab/index.js'; // prettier-ignore
import { integer, percent } from '../../text/index.js';
import { ERROR_CLASSES } from '../records.js';
import { cachedShare, type TargetReport } from './target.js';

type Targets = readonly TargetReport[];

/** Of completed programs and their calls. @param labels of the rows, below one that says what they are */
export function figureGrid(targets: Targets, [corner = '', ...labels] = namesOf(targets)): Grid {
  const means = (target: TargetReport) => [target.program_queue_seconds, target.program_engine_seconds, target.program_tool_seconds]; // prettier-ignore
  const groups: Columns<TargetReport>[] = [
    { heading: 'program, s', columns: spread(targets, (target) => target.program_seconds) },
    { heading: 'of it, on average', columns: ['queue', 'engine', 'tools'].map((heading, at) => ({ heading, of: (target) => means(target)[at]?.mean ?? null })) }, // prettier-ignore
    { heading: 'call to first token, s', columns: spread(targets, (target) => target.ttft_seconds) },
    {
      heading: '',
      columns: [
        { heading: 'ms/token', of: (target) => scaled(target.inter_token_seconds.mean, 1000) },
        { heading: 'cached', of: cachedShare, show: percent },
        { heading: 'slowdown', of: (target) => target.slowdown.mean },
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

export const NONE_COMPLETED = 'No program was completed.';

export const isNoneCompleted = (targets: Targets): boolean => targets.every(({ completed }) => completed === 0);

export function workloadGrid(targets: Targets): Grid {
  const kinds = targets.flatMap(({ by_workload }) => Object.values(by_workload));
  type Kind = (typeof kinds)[number];
  const tail = tailOf(kinds.map(({ program_seconds }) => program_seconds));
  const groups: Columns<Kind>[] = [
    { heading: '', columns: [{ heading: 'programs', of: (kind) => kind.programs, show: integer }] },
    { heading: 'program, s', columns: spread(kinds, (kind) => kind.program_seconds, 1, ['mean', 'p50', tail]) },
    { heading: 'slowdown', columns: spread(kinds, (kind) => kind.slowdown, 1, ['mean', tail]) },
  ];
  const rows = targets.flatMap((target) =>
    Object.entries(target.by_workload).map(([name, kind]) => [`${prefix(target, targets)}${name}`, [kind]] as const),
  );
  return gridOf('by workload', groups, rows);
}

/** Only classes that occurred. */
export function errorGrid(targets: Targets): Grid {
  const seen = ERROR_CLASSES.filter((name) => targets.some(({ errors }) => errors[name] > 0));
  return {
    corner: 'failed calls',
    groups: [{ heading: '', columns: targets.map((target) => (targets.length > 1 ? target.name : 'calls')) }],
    rows: seen.map((name) => [name, ...targets.map(({ errors }) => integer(errors[name]))]),
  };
}

/** The first failed call's message, for each class. */
export const errorExamples = (targets: Targets): string[] =>
  targets.flatMap((target) =>
    Object.entries(target.error_examples).map(([name, said]) => `${prefix(target, targets)}${name}: ${said}`),
  );

/** Where a target is, and what. */
export function targetText({ url, model, server, policy }: TargetReport): string {
  const what = [model, server, policy && `policy ${policy}`].filter((text) => typeof text === 'string').join(', ');
  return what === '' ? url : `${url} (${what})`;
}

const namesOf = (targets: Targets): string[] =>
  targets.length > 1 ? ['target', ...targets.map(({ name }) => name)] : ['', 'all'];
const prefix = (target: TargetReport, targets: Targets): string => (targets.length > 1 ? `${target.name}, ` : '');
