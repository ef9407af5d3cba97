import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { LoadDocument } from './document.js';
import { comparedOf } from './pairs.js';
import type { Summarized } from './summary.js';
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
  targets: z.array(z.looseObject({ by_run: z.array(z.looseObject({ program_seconds: figures, ttft_seconds: figures })) })).min(1), // prettier-ignore
});

/**
 * Two documents of one target and of the same load each, the second against the first, for `summaryOf`. Runs are paired
 * by their index, because a run of both has the same programs.
 * @param margin share of a time up to which a difference does not matter
 * @throws ComparisonError
 */
export function compareDocuments(
  first: unknown,
  other: unknown,
  names: readonly [string, string],
  margin: number,
): Summarized {
  const documents = [read(first, names[0]), read(other, names[1])] as const;
  const differing = differenceOf(documents[0].settings, documents[1].settings);
  if (differing.length > 0) throw new ComparisonError(`the loads differ: ${differing.join(', ')}`);
  const targets = onOneBase(documents.flatMap((each) => each.targets));
  const [runs = [], twins = []] = targets.map(({ by_run }) => by_run);
  const pairs = runs.flatMap((run, index) => (twins[index] === undefined ? [] : [[run, twins[index]] as const]));
  const ab = comparedOf(targets, pairs, margin);
  const warnings = documents.flatMap((each, at) => each.warnings.map((warning) => `${names[at]}: ${warning}`));
  return { ...documents[0], targets, ab, warnings, slo: [] };
}

/** With the slowdowns of all over the shortest time alone, as of two targets in one run. */
function onOneBase(targets: readonly TargetReport[]): TargetReport[] {
  const base = Math.min(...targets.map(({ alone_seconds: alone }) => alone ?? NaN));
  return targets.map((target) => {
    const { alone_seconds: alone } = target;
    return alone === null || Number.isNaN(base) ? target : { ...rebased(target, base / alone), alone_seconds: base };
  });
}

const isSweep = (value: unknown): boolean => z.looseObject({ loads: z.array(z.unknown()) }).safeParse(value).success;

function read(value: unknown, name: string): LoadDocument {
  const refuse = (why: string) => new ComparisonError(`${name} ${why}`);
  const { data } = comparable.safeParse(value);
  if (isSweep(value)) throw refuse('has several loads: compare documents of one load each');
  if (data === undefined) throw refuse('is no document of maitred load --json, or one of an older version');
  if (data.targets.length > 1) throw refuse('has two targets, compared already: compare documents of one target each');
  if (!data.complete) throw refuse('is of a run that was stopped: measure it again');
  const document = value as LoadDocument;
  return { ...document, targets: document.targets.map((target) => ({ ...target, name })) };
}

function differenceOf(first: LoadDocument['settings'], other: LoadDocument['settings']): string[] {
  const names = [...new Set([...Object.keys(first), ...Object.keys(other)])].filter((name) => !NOT_OF_LOAD.has(name));
  return names
    .filter((name) => !isDeepStrictEqual(first[name], other[name]))
    .map((name) => `${name} ${String(first[name] ?? '-')} -> ${String(other[name] ?? '-')}`);
}
