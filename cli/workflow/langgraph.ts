import type { WorkflowInput } from '../../sidecar/workflows/schema.js';
import { objectOf, textOf, listOf, type Fail, type Json, type Sizes } from './json.js';

const START = '__start__';
const END = '__end__';

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly isConditional: boolean;
}

type Graph = Pick<WorkflowInput, 'start' | 'nodes' | 'edges'>;

/**
 * A graph as LangGraph's `get_graph().to_json()` (in JavaScript `toJSON()`) gives it: its topology alone. Conditional
 * edges of a node count as equally likely, and every node as a call, except tool nodes. Nodes that a node starts side by
 * side are put one behind the other, as a workflow is at one node at a time.
 */
export function fromLangGraph(nodes: readonly unknown[], edges: readonly unknown[], sizes: Sizes, fail: Fail): Graph {
  const all = nodes.map(objectOf).filter(({ id }) => id !== END);
  const read = edges.map(objectOf).map(({ source, target, conditional }) => ({
    from: textOf(source),
    to: textOf(target),
    isConditional: conditional === true,
  }));
  const first = read.filter(({ from }) => from === START);
  // A start with one way is no step of its own.
  const isPlain = first.length === 1 && first[0]?.to !== END;
  const kept = isPlain ? read.filter(({ from }) => from !== START) : read;
  const found = all.filter(({ id }) => !(isPlain && id === START));
  return {
    start: isPlain ? first[0]?.to : START,
    nodes: found.map((node) => ({ id: textOf(node['id']), ...(makesCall(node) && sizes) })),
    edges: inSequence(kept, fail).filter(({ to }) => to !== END),
  };
}

function makesCall({ id, data }: Json): boolean {
  const { id: path, name } = objectOf(data);
  return id !== START && listOf(path).at(-1) !== 'ToolNode' && name !== 'ToolNode';
}

/** The ways out of each node with their probabilities, after parallel branches have been put one behind the other. */
function inSequence(edges: readonly Edge[], fail: Fail): { from: string; to: string; probability: number }[] {
  const ways = new Map<string, readonly Edge[]>();
  for (const edge of edges) ways.set(edge.from, [...(ways.get(edge.from) ?? []), edge]);
  for (const [from, own] of ways) {
    const branches = own.filter(({ isConditional }) => !isConditional).map(({ to }) => to);
    if (branches.length === 0 || own.length === 1) continue;
    const next = branches.map((branch) => ways.get(branch) ?? []);
    const meet = next[0]?.[0]?.to;
    const areShort = next.every(([edge, ...more]) => edge?.to === meet && !edge?.isConditional && more.length === 0);
    const areOwn = branches.every((branch) => edges.filter(({ to }) => to === branch).length === 1);
    if (branches.length < own.length || !areShort || !areOwn)
      fail(`node ${from} starts several nodes that do not all lead to the same next one: write this graph by hand`);
    [from, ...branches.slice(0, -1)].forEach((node, index) =>
      ways.set(node, [{ from: node, to: branches[index] ?? '', isConditional: false }]),
    );
  }
  return [...ways].flatMap(([from, own]) =>
    [...new Set(own.map(({ to }) => to))].map((to) => ({
      from,
      to,
      probability: own.filter((edge) => edge.to === to).length / own.length,
    })),
  );
}
