/**
 * Weight of the heaviest way from each node to an end, where all nodes of a cycle count once: the longest path over
 * strongly connected components (Tarjan 1972). O(nodes + edges); recursion as deep as there are nodes.
 */
export function depthsOf(to: readonly ReadonlyMap<number, number>[], weights: readonly number[]): number[] {
  const order = new Map<number, number>();
  const lows: number[] = [];
  const depths: number[] = [];
  const open: number[] = [];
  const visit = (node: number): void => {
    let low = order.size;
    order.set(node, low);
    open.push(node);
    for (const next of to[node]?.keys() ?? []) {
      if (!order.has(next)) visit(next);
      // A component with a depth is complete, and so none of this node's cycles.
      if (depths[next] === undefined) low = Math.min(low, lows[next] ?? order.get(next) ?? 0);
    }
    lows[node] = low;
    if (low !== order.get(node)) return;
    const component = open.splice(open.indexOf(node));
    const after = component.flatMap((member) => [...(to[member]?.keys() ?? [])].map((next) => depths[next] ?? 0));
    const depth = component.reduce((sum, member) => sum + (weights[member] ?? 0), 0) + Math.max(0, ...after);
    for (const member of component) depths[member] = depth;
  };
  weights.forEach((_, node) => {
    if (!order.has(node)) visit(node);
  });
  return depths;
}
