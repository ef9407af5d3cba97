/**
 * Expected sums of work until the end of a Markov chain, from each node on: R = w + P R.
 *
 * Solved by state reduction (Grassmann, Taksar and Heyman 1985), which only adds, multiplies and divides. Nothing
 * cancels, so a cycle that is left once in a million rounds keeps its digits. O(nodes³) at worst.
 * @param to probabilities of the successors of each node
 * @param ends probability that a node is the last; an end must be reachable from every node
 * @param work of each node, any number of kinds
 */
export function restOf(
  { to, ends }: { readonly to: readonly ReadonlyMap<number, number>[]; readonly ends: readonly number[] },
  work: readonly (readonly number[])[],
): number[][] {
  const size = work.length;
  // Each row holds the probabilities, the end, and the work: all change alike when a node is taken out.
  const rows = work.map((kinds, node) => {
    const row = new Float64Array(size + 1 + kinds.length);
    to[node]?.forEach((share, target) => (row[target] = share));
    row.set([ends[node] ?? 0, ...kinds], size);
    return row;
  });
  const leaves = rows.map(() => 0);
  for (let out = size - 1; out >= 0; out -= 1) leaves[out] = takeOut(rows, out);
  rows.forEach((row, node) => {
    for (let target = 0; target < node; target += 1) addTo(row, row[target] ?? 0, rows[target], size + 1);
    for (let kind = size + 1; kind < row.length; kind += 1) row[kind] = (row[kind] ?? 0) / (leaves[node] ?? 1);
  });
  return rows.map((row) => [...row.subarray(size + 1)]);
}

/**
 * Takes a node out of the chain of earlier nodes: each passes through it to its successors.
 * @returns probability that the chain leaves the node for an earlier one or the end
 */
function takeOut(rows: readonly Float64Array[], out: number): number {
  const size = rows.length;
  const gone = rows[out] ?? new Float64Array();
  let leave = gone[size] ?? 0;
  for (let target = 0; target < out; target += 1) leave += gone[target] ?? 0;
  for (const row of rows.slice(0, out)) {
    const share = (row[out] ?? 0) / leave;
    addTo(row, share, gone, 0, out);
    addTo(row, share, gone, size);
  }
  return leave;
}

function addTo(row: Float64Array, share: number, other: Float64Array = row, from = 0, to = row.length): void {
  if (share === 0) return;
  for (let column = from; column < to; column += 1) row[column] = (row[column] ?? 0) + share * (other[column] ?? 0);
}
