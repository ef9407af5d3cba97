import { type Column, type Columns, type Distribution, type Grid, gridOf, ratioText, spread, tailOf } from '../../lab/index.js'; // prettier-ignore
import { integer, number, percent } from '../../text/index.js';
import { ERROR_CLASSES } from '../records.js';
import type { AbReport } from './pairs.js';
import { cachedShare, type SizeReport, type TargetReport } from './target.js';

type Targets = readonly TargetReport[];

/** Of completed programs and their calls: a table for each list of groups. */
export function figureGrids(targets: Targets): Grid[] {
  const of = (distribution: (target: TargetReport) => Distribution, scale = 1): Column<TargetReport>[] =>
    spread(targets, distribution, scale);
  const tables: readonly (readonly Columns<TargetReport>[])[] = [
    [
      { heading: 'program, s', columns: of((target) => target.program_seconds) },
      { heading: 'slowdown', columns: of((target) => target.slowdown) },
      { heading: '', columns: [{ heading: 'Jain', of: (target) => target.jain_index }] },
    ],
    [
      { heading: 'time to first token, s', columns: of((target) => target.ttft_seconds) },
      { heading: 'between tokens, ms', columns: of((target) => target.inter_token_seconds, 1000) },
    ],
    [
      { heading: 'call in gateway queue, s', columns: of((target) => target.queue_seconds) },
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
  return tables.map((groups) => gridOf(targets.length > 1 ? 'target' : '', groups, named(targets)));
}

export const NONE_COMPLETED = 'No program was completed.';

export const isNoneCompleted = (targets: Targets): boolean => targets.every(({ completed }) => completed === 0);

/** The split of programs' time. */
export function splitGrid(targets: Targets): Grid {
  const columns: Column<TargetReport>[] = [
    { heading: 'queue', of: (target) => target.program_queue_seconds.mean },
    { heading: 'engine', of: (target) => target.program_engine_seconds.mean },
    { heading: 'tools', of: (target) => target.program_tool_seconds.mean },
    { heading: 'without queue', of: (target) => target.critical_path_seconds.mean },
  ];
  return gridOf('mean seconds of a program', [{ heading: '', columns }], named(targets));
}

/** Quarters of the programs by their tokens, the smallest first. */
export function sizeGrid(targets: Targets): Grid {
  const sizes = targets.flatMap(({ by_size }) => by_size);
  const statistics = ['mean', tailOf(sizes.map(({ program_seconds }) => program_seconds))] as const;
  const groups: Columns<SizeReport>[] = [
    { heading: '', columns: [{ heading: 'programs', of: (size) => size.programs, show: integer }] },
    { heading: 'program, s', columns: spread(sizes, (size) => size.program_seconds, 1, statistics) },
    { heading: 'slowdown', columns: spread(sizes, (size) => size.slowdown, 1, statistics) },
    {
      heading: 'mean seconds in',
      columns: [
        { heading: 'queue', of: (size) => size.queue_seconds_mean },
        { heading: 'engine', of: (size) => size.engine_seconds_mean },
        { heading: 'tools', of: (size) => size.tool_seconds_mean },
      ],
    },
  ];
  const rows = targets.flatMap((target) =>
    target.by_size.map((size, quarter) => {
      const tokens = size.tokens_min === null ? '' : `, ${integer(size.tokens_min)}–${integer(size.tokens_max)} tokens`;
      return [`${prefix(target, targets)}${quarterName(quarter)}${tokens}`, [size]] as const;
    }),
  );
  return gridOf('by size', groups, rows);
}

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

/** Times of the second target over those of the first. */
export function ratioGrid(ab: Pick<AbReport, 'program_seconds' | 'ttft_seconds'>, [a, b]: Targets): Grid {
  const statistics = ['mean', 'p50', 'p95', 'p99'] as const;
  const rows = [['program', ab.program_seconds], ['to first token', ab.ttft_seconds]] as const; // prettier-ignore
  return {
    corner: `${b?.name ?? ''} / ${a?.name ?? ''}`,
    groups: [{ heading: '', columns: statistics }],
    rows: rows.map(([name, ratios]) => [name, ...statistics.map((statistic) => ratioText(ratios[statistic]))]),
  };
}

/** The first failed call's message, for each class. */
export const errorExamples = (targets: Targets): string[] =>
  targets.flatMap((target) =>
    Object.entries(target.error_examples).map(([name, said]) => `${prefix(target, targets)}${name}: ${said}`),
  );

export const quarterName = (quarter: number): string =>
  ['smallest quarter', 'second', 'third', 'largest quarter'][quarter] ?? '';

/** Where a target is, and what. */
export function targetText({ url, model, server, policy }: TargetReport): string {
  const what = [model, server, policy && `policy ${policy}`].filter((text) => typeof text === 'string').join(', ');
  return what === '' ? url : `${url} (${what})`;
}

/** The base of all slowdowns, in words; nothing where it was not measured. */
export const baselineLines = (targets: Targets): string[] =>
  targets.slice(0, 1).flatMap(
    ({ baseline }) =>
    baseline === null
      ? []
      : [`Slowdowns: a call alone is taken to last ${number(baseline.overhead_ms)} ms, ${number(baseline.prompt_token_ms)} ms a prompt token and ${number(baseline.output_token_ms)} ms an output token${targets.length > 1 ? ', at both targets' : ''}.`], // prettier-ignore
  );

const named = (targets: Targets) =>
  targets.map((target) => [targets.length > 1 ? target.name : 'all', [target]] as const);
const prefix = (target: TargetReport, targets: Targets): string => (targets.length > 1 ? `${target.name}, ` : '');
