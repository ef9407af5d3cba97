import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Distribution, Ratio } from '../../lab/index.js';
import type { LoadDocument } from './document.js';
import { ratiosOf, sentenceOf, type Ratios } from './pairs.js';
import type { Summarized } from './summary.js';
import type { RunReport, TargetReport } from './target.js';

/** Settings that change neither the load nor what is measured of it. */
const NOT_OF_LOAD: ReadonlySet<string> = new Set(['repeat', 'margin', 'baseline']);

/** A document that cannot be compared. */
export class ComparisonError extends Error {
  override readonly name = 'ComparisonError';
}

const distribution = z.looseObject(
  Object.fromEntries(['mean', 'p50', 'p95', 'p99'].map((name) => [name, z.number().nullable()])),
);

/** What tells a document of `maitred load --json` from other JSON. */
const comparable = z.looseObject({
  version: z.literal(1),
  complete: z.boolean(),
  settings: z.record(z.string(), z.unknown()),
  targets: z.array(z.looseObject({ url: z.string(), by_run: z.array(z.looseObject({ program_seconds: distribution, ttft_seconds: distribution })) })), // prettier-ignore
});

/**
 * Two documents of one target each, the second against the first, for `summaryOf`. Of equal loads the runs are paired
 * by their index, because a run of both has the same programs; unequal loads give ratios without intervals.
 * @param margin share of a time up to which a difference does not matter
 * @throws ComparisonError
 */
export function compareDocuments(
  first: unknown,
  other: unknown,
  names: readonly [string, string],
  margin: number,
): Summarized {
  const [a, b] = [read(first, names[0]), read(other, names[1])];
  const targets = [a.target, b.target];
  const differing = differenceOf(a.document.settings, b.document.settings);
  const isSame = differing.length === 0;
  const pairs = a.runs.flatMap((run, index) => (b.runs[index] === undefined ? [] : [[run, b.runs[index]] as const]));
  const ratios = (of: (run: RunReport) => Distribution): Ratios => {
    const found = ratiosOf(pairs.map(([run, other]) => [of(run), of(other)]));
    const bare = (ratio: Ratio): Ratio => ({ ...ratio, low: null, high: null });
    return isSame
      ? found
      : { mean: bare(found.mean), p50: bare(found.p50), p95: bare(found.p95), p99: bare(found.p99) };
  };
  const program_seconds = ratios((run) => run.program_seconds);
  const ttft_seconds = ratios((run) => run.ttft_seconds);
  const counts = {
    programs: Math.min(...pairs.flat().map((run) => run.program_seconds.count)),
    calls: Math.min(...pairs.flat().map((run) => run.ttft_seconds.count)),
  };
  const single = isSame ? 'one run' : 'different loads';
  const outcome = sentenceOf(targets, { programs: program_seconds, firstToken: ttft_seconds, counts, single }, margin);
  const both = [a, b];
  return {
    complete: both.every(({ document }) => document.complete),
    elapsed_seconds: both.reduce((sum, { document }) => sum + document.elapsed_seconds, 0),
    programs_unfinished: both.reduce((sum, { document }) => sum + document.programs_unfinished, 0),
    settings: a.document.settings,
    warnings: [
      ...(isSame ? [] : [`The loads differ, and so may all times: ${differing.join(', ')}.`]),
      ...both.flatMap(({ document, target }) => document.warnings.map((warning) => `${target.name}: ${warning}`)),
    ],
    targets,
    ab: { runs: isSame ? pairs.length : 1, program_seconds, ttft_seconds, outcome },
    slo: [],
  };
}

interface Read {
  readonly document: LoadDocument;
  /** Under its new name. */
  readonly target: TargetReport;
  /** Whole ones; of a load test that was stopped during its first run, that one. */
  readonly runs: readonly RunReport[];
}

function read(value: unknown, name: string): Read {
  if (!comparable.safeParse(value).success)
    throw new ComparisonError(`${name} is no document of maitred load --json, or one of an older version`);
  const document = value as LoadDocument;
  const [target, second] = document.targets;
  if (target === undefined || second !== undefined)
    throw new ComparisonError(`${name} has ${document.targets.length} targets; only documents of one target each can be compared`); // prettier-ignore
  return { document, target: { ...target, name }, runs: target.by_run.slice(0, Math.max(1, document.runs)) };
}

function differenceOf(first: LoadDocument['settings'], other: LoadDocument['settings']): string[] {
  const names = [...new Set([...Object.keys(first), ...Object.keys(other)])].filter((name) => !NOT_OF_LOAD.has(name));
  return names
    .filter((name) => !isDeepStrictEqual(first[name], other[name]))
    .map((name) => `${name} ${String(first[name] ?? '-')} -> ${String(other[name] ?? '-')}`);
}
