import { problem, type Problem } from './lines.js';

/** The parts of a line that its place in the plan depends on. */
export interface Outline {
  readonly customId: string;
  /** Number of the line in its file. */
  readonly line: number;
  readonly needs: readonly string[];
  /** Most calls that the line becomes. */
  readonly calls: number;
  /** Hash of what the line asks; undefined: its answer stands for no other line. */
  readonly request: number | undefined;
  readonly blocks: Float64Array;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Lines and their needs, by index. */
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

/** @yields often, so that the caller may do other work in between */
export function* graphOf(lines: readonly Outline[]): Generator<void, Graph | readonly Problem[]> {
  const problems: Problem[] = [];
  const report = (code: string, message: string, line: number, param: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem(code, message, line, param));
  };
  const byId = new Map<string, number>();
  for (const [index, { customId, line }] of lines.entries()) {
    const first = lines[byId.get(customId) ?? -1];
    if (first === undefined) byId.set(customId, index);
    else report('duplicate_custom_id', `The custom_id "${customId}" is that of line ${first.line}; ids must differ.`, line, 'custom_id'); // prettier-ignore
    if (index % PAUSE_STEPS === 0) yield;
  }
  const needs: (readonly number[])[] = [];
  let edges = 0;
  const dependents: (readonly number[])[] = lines.map(() => NONE);
  for (const [index, { needs: names, line }] of lines.entries()) {
    const own: number[] = [];
    for (const name of names) {
      const need = byId.get(name);
      if (need === undefined)
        report('unknown_custom_id', `The line needs "${name.slice(0, 100)}", which is no custom_id of this file.`, line, 'after'); // prettier-ignore
      else if (dependents[need] === NONE) dependents[need] = [index];
      else (dependents[need] as number[]).push(index);
      if (need !== undefined) own.push(need);
    }
    needs.push(own.length > 0 ? own : NONE);
    edges += own.length;
    if (edges > EDGES_MAX) {
      report('too_many_needs', `The lines need more than ${EDGES_MAX} answers in all.`, line, 'after');
      break;
    }
    if (index % PAUSE_STEPS === 0) yield;
  }
  if (problems.length > 0) return problems;
  const order = yield* needsFirst(needs, dependents);
  if (order.length < lines.length) return [circleIn(lines, needs, order)];
  const critical = yield* criticalPaths(lines, dependents, order);
  return { needs, dependents, programs: yield* connected(needs), critical, sorted: order };
}

/** All lines that are in no circle and need none that is, each after the lines that it needs. */
function* needsFirst(
  needs: readonly (readonly number[])[],
  dependents: readonly (readonly number[])[],
): Generator<void, readonly number[]> {
  const missing = Int32Array.from(needs, ({ length }) => length);
  const order: number[] = [];
  for (const [index, { length }] of needs.entries()) if (length === 0) order.push(index);
  for (let at = 0; at < order.length; at++) {
    for (const next of dependents[order[at] ?? 0] ?? NONE)
      if ((missing[next] = (missing[next] ?? 0) - 1) === 0) order.push(next);
    if (at % PAUSE_STEPS === 0) yield;
  }
  return order;
}

/** @param order lines outside of any circle */
function circleIn(lines: readonly Outline[], needs: readonly (readonly number[])[], order: readonly number[]): Problem {
  const isFree = new Set(order);
  const way: number[] = [];
  const seen = new Set<number>();
  let at = lines.findIndex((_, index) => !isFree.has(index));
  while (!seen.has(at)) {
    seen.add(at);
    way.push(at);
    at = (needs[at] ?? NONE).find((need) => !isFree.has(need)) ?? at;
  }
  const circle = way.slice(way.indexOf(at));
  const names = circle.slice(0, CIRCLE_SHOWN_MAX).map((index) => `"${lines[index]?.customId ?? ''}"`);
  const more = circle.length > CIRCLE_SHOWN_MAX ? ` … (${circle.length} lines)` : '';
  const message = `Lines need each other in a circle: ${[...names, names[0]].join(' needs ')}${more}.`;
  return problem('circular_dependency', message, lines[at]?.line ?? null, 'after');
}

function* criticalPaths(
  lines: readonly Outline[],
  dependents: readonly (readonly number[])[],
  order: readonly number[],
): Generator<void, Float64Array> {
  const critical = new Float64Array(lines.length);
  for (let at = order.length - 1; at >= 0; at--) {
    const index = order[at] ?? 0;
    const { promptTokens = 0, outputTokens = 0 } = lines[index] ?? {};
    let longest = 0;
    for (const next of dependents[index] ?? NONE) longest = Math.max(longest, critical[next] ?? 0);
    critical[index] = promptTokens + outputTokens + longest;
    if (at % PAUSE_STEPS === 0) yield;
  }
  return critical;
}

/** The number of each line's component, counted from 0 in the order of their first lines. */
function* connected(needs: readonly (readonly number[])[]): Generator<void, Int32Array> {
  const parent = Int32Array.from(needs, (_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parent[root] !== root) root = parent[root] = parent[parent[root] ?? 0] ?? 0;
    return root;
  };
  for (const [index, own] of needs.entries()) {
    for (const need of own) {
      const [a, b] = [rootOf(index), rootOf(need)];
      parent[Math.max(a, b)] = Math.min(a, b);
    }
    if (index % PAUSE_STEPS === 0) yield;
  }
  const programs = new Int32Array(needs.length);
  let count = 0;
  for (let index = 0; index < needs.length; index++) {
    const root = rootOf(index);
    programs[index] = root === index ? count++ : (programs[root] ?? 0);
    if (index % PAUSE_STEPS === 0) yield;
  }
  return programs;
}
