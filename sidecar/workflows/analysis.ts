import type { Workflow } from './schema.js';
import { restOf } from './solve.js';

/** A fault of a graph: its place in the file, and the reason. */
interface GraphProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Expected work from a node on, the node included. */
export interface NodeRest {
  readonly id: string;
  /** Visits to nodes that call a model. */
  readonly calls: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Time between nodes, such as that of tools. */
  readonly toolMs: number;
}

type Analysis =
  | { readonly nodes: readonly NodeRest[]; readonly problems?: undefined }
  | { readonly problems: readonly GraphProblem[]; readonly nodes?: undefined };

/** Rounding of probabilities that should sum to 1. */
const SLACK = 1e-9;
/** Most calls to expect of one program: more is a cycle that practically never ends. */
const CALLS_MAX = 1e5;

type Report = (path: GraphProblem['path'], message: string) => void;

/** The graph as a Markov chain over the places of its nodes. */
interface Chain {
  /** Probabilities of the successors of each node. */
  readonly to: readonly Map<number, number>[];
  /** Probability that a node is the last. */
  readonly ends: readonly number[];
  readonly toolMs: readonly number[];
}

/** The expected rest of a program from each node on, or the faults of the graph. */
export function analyse(workflow: Workflow): Analysis {
  const problems: GraphProblem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  const places = placesOf(workflow, report);
  if (problems.length > 0) return { problems };
  const chain = chainOf(workflow, places, report);
  checkWays(workflow, places, chain, report);
  if (problems.length > 0) return { problems };

  const { nodes } = workflow;
  const calls = nodes.map(({ promptTokens, outputTokens }) => (promptTokens + outputTokens > 0 ? 1 : 0));
  const rest = restOf(
    chain,
    nodes.map((node, place) => [calls[place] ?? 0, node.promptTokens, node.outputTokens, chain.toolMs[place] ?? 0]),
  );
  const found = nodes.map(({ id }, place): NodeRest => {
    const [callsLeft = 0, promptTokens = 0, outputTokens = 0, toolMs = 0] = rest[place] ?? [];
    return { id, calls: callsLeft, promptTokens, outputTokens, toolMs };
  });
  const endless = found.findIndex((node) => node.calls > CALLS_MAX);
  if (endless < 0) return { nodes: found };
  report(['nodes', endless], `never ends for practical purposes: over ${CALLS_MAX} calls are expected from it`);
  return { problems };
}

/** Places of the nodes by id. Checks that ids differ and that all names are known. */
function placesOf({ nodes, edges, start }: Workflow, report: Report): Map<string, number> {
  const places = new Map<string, number>();
  nodes.forEach(({ id }, place) => {
    if (places.has(id)) report(['nodes', place, 'id'], `${quoted(id)} is the id of an earlier node`);
    else places.set(id, place);
  });
  const seen = new Set<string>();
  edges.forEach(({ from, to, tool }, index) => {
    if (!places.has(from)) report(['edges', index, 'from'], `${quoted(from)} is no node`);
    if (!places.has(to)) report(['edges', index, 'to'], `${quoted(to)} is no node`);
    const edge = JSON.stringify([from, to, tool]);
    if (seen.has(edge)) report(['edges', index], 'repeats an earlier edge');
    seen.add(edge);
  });
  if (start !== undefined && !places.has(start)) report(['start'], `${quoted(start)} is no node`);
  return places;
}

/** Edges without a probability share equally the rest that the others of their node leave. */
function chainOf({ nodes, edges }: Workflow, places: ReadonlyMap<string, number>, report: Report): Chain {
  const to = nodes.map(() => new Map<number, number>());
  const toolMs = nodes.map(() => 0);
  const ends = nodes.map(({ id }, place) => {
    const own = edges.filter(({ from }) => from === id);
    const open = own.filter(({ probability }) => probability === undefined).length;
    const left = own.reduce((rest, { probability = 0 }) => rest - probability, 1);
    if (left < -SLACK) report(['nodes', place], `has edges with probabilities of ${1 - left} together, above 1`);
    else if (left <= SLACK && open > 0) report(['nodes', place], 'has edges without probability, but none is left');
    for (const { to: next, probability = left / open, ms = 0 } of own) {
      const target = places.get(next) ?? 0;
      to[place]?.set(target, (to[place].get(target) ?? 0) + probability);
      toolMs[place] = (toolMs[place] ?? 0) + probability * ms;
    }
    return open > 0 || left <= SLACK ? 0 : left;
  });
  return { to, ends, toolMs };
}

/** For people: three digits after the point. */
export function rounded({ id, calls, promptTokens, outputTokens, toolMs }: NodeRest): NodeRest {
  const round = (value: number): number => Math.round(1000 * value) / 1000;
  const tokens = { promptTokens: round(promptTokens), outputTokens: round(outputTokens) };
  return { id, calls: round(calls), ...tokens, toolMs: round(toolMs) };
}

/** Every node must be reachable from the start, and an end from every node. */
function checkWays(
  { nodes, start = nodes[0]?.id ?? '' }: Workflow,
  places: ReadonlyMap<string, number>,
  { to, ends }: Chain,
  report: Report,
): void {
  const from = nodes.map((): number[] => []);
  to.forEach((targets, place) => targets.forEach((_, target) => from[target]?.push(place)));
  const reached = allFrom([places.get(start) ?? 0], (place) => to[place]?.keys() ?? []);
  const lasts = ends.flatMap((end, place) => (end > 0 ? [place] : []));
  const ending = allFrom(lasts, (place) => from[place] ?? []);
  nodes.forEach((_, place) => {
    if (!reached.has(place)) report(['nodes', place], `cannot be reached from the start, ${quoted(start)}`);
    if (!ending.has(place)) report(['nodes', place], 'never ends: it is in a cycle without a way out, or leads to one');
  });
}

function allFrom(first: readonly number[], next: (place: number) => Iterable<number>): Set<number> {
  const found = new Set(first);
  for (const place of found) for (const other of next(place)) found.add(other);
  return found;
}

const quoted = (text: string): string => JSON.stringify(text);
