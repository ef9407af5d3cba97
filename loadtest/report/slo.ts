import { isDeepStrictEqual } from 'node:util';
import { MARGIN, WorkloadGroup } from '../../lab/index.js';
import { Pairs, type AbReport } from './pairs.js';
import { Target, type TargetReport } from './target.js';

/** A condition that a run must meet, such as `program_seconds.p99 < 60`. */
export interface Slo {
  readonly expression: string;
  /** Index of its target; undefined: each target, or the comparison. */
  readonly target: number | undefined;
  /** Path of fields to the number, from a target's report, or from the document for `ab`. */
  readonly path: readonly string[];
  readonly operator: Operator;
  readonly limit: number;
}

export type SloResult = Readonly<ReturnType<typeof resultOf>>;

type Operator = keyof typeof OPERATORS;

const OPERATORS = {
  '<': (value: number, limit: number) => value < limit,
  '<=': (value: number, limit: number) => value <= limit,
  '>': (value: number, limit: number) => value > limit,
  '>=': (value: number, limit: number) => value >= limit,
};
const SHAPE = /^\s*([^\s<>=]+)\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(ms|s|m|h)?\s*$/i;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };
/** Metrics that are times. */
const TIME = /_seconds(\.(mean|p\d+|max))?$/;
export const TARGET_NAMES = ['A', 'B'] as const;

export class SloError extends Error {
  override readonly name = 'SloError';
}

/**
 * @param targets number of targets
 * @param suggest returns likely intended words, as the end of a sentence; '' for none
 * @param empty the report of a run without programs, which has all fields
 * @throws SloError
 */
export function parseSlo(
  text: string,
  targets: number,
  suggest: (word: string, known: readonly string[]) => string,
  empty: object = new Target('', '', 0, false).report(),
): Slo {
  const match = SHAPE.exec(text);
  if (!match)
    throw new SloError(
      `"${text}" is not METRIC < NUMBER; a metric is such as program_seconds.p99, and <=, > and >= are understood too`,
    );
  const [, metric = '', operator, limit, unit] = match;
  const [first = '', ...rest] = metric.split('.');
  const target = TARGET_NAMES.slice(0, targets).findIndex((name) => name === first);
  const path = target < 0 ? [first, ...rest] : rest;
  const known = metricsOf(target < 0 ? targets : 1, empty);
  const spelt = path[0] === 'by_workload' && path.length > 1 ? ['by_workload', ANY, ...path.slice(2)] : path;
  if (TARGET_NAMES.slice(targets).some((name) => name === first)) throw new SloError(`there is no target ${first}`);
  if (first === 'ab' && targets < 2) throw new SloError('ab compares two targets, and there is one');
  if (!known.some((each) => isDeepStrictEqual(each, spelt))) {
    const nextOf = (...begun: readonly string[]) => {
      const below = known.filter((each) => isDeepStrictEqual(each.slice(0, begun.length), begun));
      return begun.length === 0 ? [] : [...new Set(below.map((each) => `.${each[begun.length]}`))];
    };
    const [next, others] = [nextOf(...spelt), nextOf(...spelt.slice(0, -1))];
    if (next.length > 0) throw new SloError(`"${metric}" is not one number; go on with one of ${next.join(', ')}`);
    if (others.length > 0)
      throw new SloError(`no metric "${metric}" in the report; it may end in ${others.join(', ')}`);
    const [begun = path] = known.filter((each) => path.every((part, at) => part !== '' && each[at]?.startsWith(part)));
    throw new SloError(
      `no metric "${metric}" in the report${
        suggest(
          begun.join('.'),
          known.map((each) => each.join('.')),
        ) || '; such are program_seconds.p95, ttft_seconds.p99 and failed'
      }`,
    );
  }
  if (unit !== undefined && !TIME.test(metric))
    throw new SloError(`"${metric}" is no time: give its limit without ${unit}`);
  return {
    expression: text.trim(),
    target: target < 0 ? undefined : target,
    path,
    operator: operator as Operator,
    limit: Number(limit) * (UNIT_SECONDS[unit?.toLowerCase() ?? 's'] ?? NaN),
  };
}

/** The verdict on a run. Without a target in the expression, each target has to meet it. */
export function judge(slo: Slo, reports: readonly TargetReport[], ab: AbReport | null): SloResult[] {
  if (slo.path[0] === 'ab') return [resultOf(slo, null, { ab })];
  return reports
    .filter((_, index) => slo.target === undefined || slo.target === index)
    .map((report) => resultOf(slo, report.name, report));
}

/** @param target its name; null for the comparison of both @param source the document that has the number */
export function resultOf({ path, operator, limit, expression }: Slo, target: string | null, source: unknown) {
  // Null: nothing was measured, so the condition is not met.
  const value = numberAt(source, path);
  return { expression, target, value, met: value !== null && OPERATORS[operator](value, limit) };
}

/** The condition in a report on several targets or one, whose names some conditions have. */
export const sloName = ({ expression, target }: Pick<SloResult, 'expression' | 'target'>, several: boolean): string =>
  `SLO ${expression}${!several || target === null || expression.startsWith(`${target}.`) ? '' : ` of ${target}`}`;

/** Stands for the name of a workload, which is unknown until one of its programs has run. */
const ANY = 'NAME';

/** All possible metrics: the numbers in the report of an empty run, so that the list always matches reports. */
function metricsOf(targets: number, empty: object): string[][] {
  const ab = new Pairs(0, MARGIN).report([], 0);
  return numbersOf({
    ...empty,
    by_workload: { [ANY]: new WorkloadGroup(0).measures() },
    ...(targets > 1 ? { ab } : {}),
  });
}

/**
 * Fields that are null in an empty report but never numbers; the longest wait is `queue_seconds.max`. An objective is
 * about all runs together.
 */
const NOT_NUMBERS = /^(model|server|policy|tokenizer|engine_left|worst_waiting|queue_grew|by_run)$/;

function numbersOf(value: object): string[][] {
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) => {
    if (NOT_NUMBERS.test(name)) return [];
    if (child === null || typeof child === 'number') return [[name]];
    return typeof child === 'object' ? numbersOf(child).map((path) => [name, ...path]) : [];
  });
}

function numberAt(source: unknown, path: readonly string[]): number | null {
  const inside = (value: unknown, name: string) => new Map<string, unknown>(Object.entries(value ?? {})).get(name);
  const value = path.reduce(inside, source);
  return typeof value === 'number' ? value : null;
}
