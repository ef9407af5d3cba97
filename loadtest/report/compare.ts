import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { LoadDocument, Summarized } from './document.js';
import { type Compared, comparedOf } from './pairs.js';
import { rebased, type TargetReport } from './target.js';

/** Settings that change neither the load nor what is measured of it. */
const NOT_OF_LOAD: ReadonlySet<string> = new Set(['repeat', 'margin', 'baseline']);

export class ComparisonError extends Error {
  override readonly name = 'ComparisonError';
}

const figures = z.looseObject({ count: z.number(), mean: z.number().nullable() });

/** The marks that tell a document of `maitred load --json` from other JSON. */
const comparable = z.looseObject({
  version: z.literal(1),
  complete: z.boolean(),
  settings: z.record(z.string(), z.unknown()),
  targets: z
    .array(z.looseObject({ by_run: z.array(z.looseObject({ program_seconds: figures, ttft_seconds: figures })) }))
    .min(1),
});

const sweep = z.looseObject({ version: z.literal(1), complete: z.boolean(), loads: z.array(comparable).min(1) });

/**
 * Two documents of one target and of the same loads each, the second against the first, load by load. Runs are paired by
 * their index, because a run of both has the same programs.
 * @param margin share of a time up to which a difference does not matter
 * @throws ComparisonError
 */
export function compareDocuments(
  first: unknown,
  other: unknown,
  names: readonly [string, string],
  margin: number,
): (Summarized & { readonly ab: Compared })[] {
  const [ones, others] = [read(first, names[0]), read(other, names[1])];
  const differing = differenceOf(ones, others);
  if (differing.length > 0) throw new ComparisonError(`the loads differ: ${differing.join(', ')}`);
  return ones.map((one, load) => {
    const documents = [one, ...others.slice(load, load + 1)];
    const targets = onOneBase(documents.flatMap((each) => each.targets));
    const [runs = [], twins = []] = targets.map(({ by_run }) => by_run);
    const pairs = runs.flatMap((run, index) => (twins[index] === undefined ? [] : [[run, twins[index]] as const]));
    const warnings = documents.flatMap((each, at) => each.warnings.map((warning) => `${names[at]}: ${warning}`));
    return {
      ...one,
      isApart: true as const,
      elapsed_seconds: documents.reduce((sum, each) => sum + each.elapsed_seconds, 0),
      settings: { ...one.settings, margin },
      targets,
      ab: comparedOf(targets, pairs, margin),
      warnings,
      slo: [],
    };
  });
}

/** With the slowdowns of all over the shortest time alone, as of two targets in one run. */
function onOneBase(targets: readonly TargetReport[]): TargetReport[] {
  const base = Math.min(...targets.map(({ alone_seconds: alone }) => alone ?? NaN));
  return targets.map((target) => {
    const { alone_seconds: alone } = target;
    return alone === null || Number.isNaN(base) ? target : { ...rebased(target, base / alone), alone_seconds: base };
  });
}

function read(value: unknown, name: string): LoadDocument[] {
  const refuse = (why: string) => new ComparisonError(`${name} ${why}`);
  const { data } = z.union([comparable.transform((one) => ({ complete: true, loads: [one] })), sweep]).safeParse(value);
  if (data === undefined) throw refuse('is no document of maitred load --json, or one of an older version');
  if (data.loads.some(({ targets }) => targets.length > 1))
    throw refuse('has two targets, compared already: compare documents of one target each');
  if (![data, ...data.loads].every(({ complete }) => complete))
    throw refuse('is of a run that was stopped: measure it again');
  return (data.loads as unknown as LoadDocument[]).map((document) => ({
    ...document,
    // Older documents have programs a second alone.
    targets: document.targets.map((each) => ({
      ...each,
      name,
      ended_per_second: each.ended_per_second ?? each.programs_per_second,
    })),
  }));
}

/** In what the loads differ, by the first that do. */
function differenceOf(ones: readonly LoadDocument[], others: readonly LoadDocument[]): string[] {
  if (ones.length !== others.length) return [`${ones.length} -> ${others.length} of them`];
  const changes = ones.map(({ settings: first }, at) => {
    const { settings: other = {} } = others[at] ?? {};
    const names = Object.keys({ ...first, ...other }).filter(
      (name) => !NOT_OF_LOAD.has(name) && !isDeepStrictEqual(first[name], other[name]),
    );
    return names.map((name) => `${name} ${String(first[name] ?? '-')} -> ${String(other[name] ?? '-')}`);
  });
  return changes.find(({ length }) => length > 0) ?? [];
}
