import { FaultyBatch, problem, type Problem } from './line.js';
import type { Outline } from './outline.js';

export interface Graph {
  readonly needs: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  /** Number of the connected component of each line: a program. */
  readonly programs: Int32Array;
  /** Tokens on the longest way from a line, itself included, to the end of its program. */
  readonly critical: Float64Array;
  /** All lines, each after those that it needs. */
  readonly sorted: readonly number[];
}

/** Most problems to report; a file may have one in every line. */
export const PROBLEMS_MAX = 100;
/** Steps between two pauses, each a few milliseconds at most. */
export const PAUSE_STEPS = 1024;
const CIRCLE_SHOWN_MAX = 10;
/** Most needs of all lines, which bounds the memory. */
const EDGES_MAX = 5_000_000;
const NONE: readonly number[] = [];

/** Visits items one after the other, also those that come meanwhile. @yields often, for other work in between */
export function* paced<T>(items: Iterable<T>, visit: (item: T) => void): Generator<void, void> {
  let steps = 0;
  for (const item of items) {
    visit(item);
    if (++steps % PAUSE_STEPS === 0) yield;
  }
}

/** @param faults of other lines of the file @yields often, so that the caller may do other work in between @throws FaultyBatch */
export function* graphOf(lines: readonly Outline[], faults: readonly Problem[]): Generator<void, Graph> {
  const problems = [...faults];
  const report = (code: string, message: string, line: number, param: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem(code, message, line, param));
  };
  const byId = new Map<string, number>();
  let edges = 0;
  yield* paced(lines.entries(), ([index, { customId, line, needs }]) => {
    const first = lines[byId.get(customId) ?? -1];
    if (first === undefined) byId.set(customId, index);
    else
      report(
        'duplicate_custom_id',
        `The custom_id "${customId}" is that of line ${first.line}; ids must differ.`,
        line,
        'custom_id',
      );
    if ((edges += needs.length) > EDGES_MAX)
      throw new FaultyBatch([
        problem('too_many_needs', `The lines need more than ${EDGES_MAX} answers in all.`, line, 'after'),
      ]);
  });
  const needs: (readonly number[])[] = [];
  const dependents: (readonly number[])[] = lines.map(() => NONE);
  yield* paced(lines.entries(), ([index, { needs: names, line }]) => {
    const own: number[] = [];
    for (const name of names) {
      const need = byId.get(name);
      if (need !== undefined) own.push(need);
      if (need === undefined)
        report(
          'unknown_custom_id',
          `The line needs "${name.slice(0, 100)}", which is no custom_id of this file.`,
          line,
          'after',
        );
      else if (dependents[need] === NONE) dependents[need] = [index];
      else (dependents[need] as number[]).push(index);
    }
    needs.push(own.length > 0 ? own : NONE);
  });
  const sorted = yield* needsFirst(needs, dependents);
  if (sorted.length < lines.length) problems.push(circleIn(lines, needs, sorted));
  if (problems.length > 0) throw new FaultyBatch(problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)));
  const critical = new Float64Array(lines.length);
  yield* paced(sorted.toReversed(), (index) => {
    const { promptTokens = 0, outputTokens = 0 } = lines[index] ?? {};
    let longest = 0;
    for (const next of dependents[index] ?? NONE) longest = Math.max(longest, critical[next] ?? 0);
    critical[index] = promptTokens + outputTokens + longest;
  });
  return { needs, dependents, programs: yield* connected(needs, dependents), critical, sorted };
}

/** All lines that are in no circle and need none that is, each after the lines that it needs. */
function* needsFirst(needs: Graph['needs'], dependents: Graph['dependents']): Generator<void, readonly number[]> {
  const missing = Int32Array.from(needs, ({ length }) => length);
  const order = [...needs.keys()].filter((index) => missing[index] === 0);
  yield* paced(order, (index) => {
    for (const next of dependents[index] ?? NONE)
      if ((missing[next] = (missing[next] ?? 0) - 1) === 0) order.push(next);
  });
  return order;
}

/** @param sorted lines outside of any circle */
function circleIn(lines: readonly Outline[], needs: Graph['needs'], sorted: readonly number[]): Problem {
  const isFree = new Set(sorted);
  const way: number[] = [];
  let at = lines.findIndex((_, index) => !isFree.has(index));
  for (const seen = new Set<number>(); !seen.has(at); at = needs[at]?.find((need) => !isFree.has(need)) ?? at) {
    seen.add(at);
    way.push(at);
  }
  const circle = way.slice(way.indexOf(at));
  const names = circle.slice(0, CIRCLE_SHOWN_MAX).map((index) => `"${lines[index]?.customId ?? ''}"`);
  const more = circle.length > CIRCLE_SHOWN_MAX ? ` … (${circle.length} lines)` : '';
  const message = `Lines need each other in a circle: ${[...names, names[0]].join(' needs ')}${more}.`;
  return problem('circular_dependency', message, lines[at]?.line ?? null, 'after');
}

/** The number of each line's component, counted from 0 in the order of their first lines. */
function* connected(needs: Graph['needs'], dependents: Graph['dependents']): Generator<void, Int32Array> {
  const programs = new Int32Array(needs.length).fill(-1);
  let count = 0;
  for (const index of needs.keys()) {
    if (programs[index] !== -1) continue;
    const found = [index];
    programs[index] = count;
    const reach = (next: number): void => {
      if (programs[next] !== -1) return;
      programs[next] = count;
      found.push(next);
    };
    yield* paced(found, (at) => [needs, dependents].forEach((edges) => edges[at]?.forEach(reach)));
    if (++count % PAUSE_STEPS === 0) yield;
  }
  return programs;
}
