import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyse } from '../../../sidecar/workflows/analysis.js';
import { workflowSchema, type WorkflowInput } from '../../../sidecar/workflows/schema.js';

const analysed = (given: Omit<WorkflowInput, 'name'>) => analyse(workflowSchema.parse({ name: 'w', ...given }));
const rest = (given: Omit<WorkflowInput, 'name'>) => {
  const { nodes, problems } = analysed(given);
  if (nodes === undefined) throw new Error(JSON.stringify(problems));
  return Object.fromEntries(nodes.map(({ id, ...node }) => [id, node]));
};
const node = (id: string, promptTokens = 100, outputTokens = 10) => ({ id, promptTokens, outputTokens });
const way = (from: string, to: string, probability?: number) => ({
  from,
  to,
  ...(probability !== undefined && { probability }),
});

describe('the rest of a workflow', () => {
  it('of a chain is the sum of what is left', () => {
    expect(
      rest({
        nodes: [node('plan'), { id: 'tool' }, node('answer', 40, 4)],
        edges: [way('plan', 'tool'), { ...way('tool', 'answer'), tool: 'search', ms: 500 }],
      }),
    ).toEqual({
      plan: { calls: 2, promptTokens: 140, outputTokens: 14, toolMs: 500 },
      tool: { calls: 1, promptTokens: 40, outputTokens: 4, toolMs: 500 },
      answer: { calls: 1, promptTokens: 40, outputTokens: 4, toolMs: 0 },
    });
  });

  it('of a loop is what its rounds take on average, however rarely it is left', () => {
    for (const again of [0.5, 0.9, 0.9999]) {
      const { agent } = rest({ nodes: [node('agent')], edges: [way('agent', 'agent', again)] });
      expect(agent!.calls).toBeCloseTo(1 / (1 - again), 6);
    }
  });

  it('of a choice weighs the ways; edges without probability share what the others leave', () => {
    const nodes = [node('start', 0, 1), node('a', 0, 100), node('b', 0, 200), node('c', 0, 400)];
    const edges = [way('start', 'a', 0.5), way('start', 'b'), way('start', 'c')];
    expect(rest({ nodes, edges })['start']).toMatchObject({ calls: 2, outputTokens: 1 + 50 + 50 + 100 });
    const maybe = [way('start', 'c', 0.25)];
    expect(rest({ nodes: [nodes[0]!, nodes[3]!], edges: maybe })['start']).toMatchObject({ calls: 1.25 });
  });

  it('solves R = w + P R for any graph that ends', () => {
    const size = 8;
    const graph = fc.record({
      works: fc.array(fc.nat(5000), { minLength: size, maxLength: size }),
      // To a node or to the end, with weights: a chain keeps every node reachable.
      ways: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1), fc.integer({ min: 1, max: 99 })), { maxLength: 30 }),
      ends: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: size, maxLength: size }),
    });
    fc.assert(
      fc.property(graph, ({ works, ways, ends }) => {
        const chain = works.slice(1).map((_, place): [number, number, number] => [place, place + 1, 5]);
        const weights = new Map([...ways, ...chain].map(([from, to, weight]) => [`${from} ${to}`, weight]));
        const sums = [...ends];
        for (const [key, weight] of weights) sums[Number(key.split(' ')[0])]! += weight;
        const edges = [...weights].map(([key, weight]) => {
          const [from = '', to = ''] = key.split(' ');
          return { from, to, probability: weight / sums[Number(from)]!, ms: weight };
        });
        const nodes = works.map((work, place) => node(String(place), work, place));
        const found = rest({ nodes, edges });
        for (const [place, { id, promptTokens, outputTokens }] of nodes.entries()) {
          const own = edges.filter(({ from }) => from === id);
          const along = (value: (to: string) => number) =>
            own.reduce((sum, { to, probability }) => sum + probability * value(to), 0);
          const close = (given: number, expected: number) =>
            expect(Math.abs(given - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, expected));
          const { calls, ...sizes } = found[id]!;
          close(sizes.promptTokens, promptTokens + along((to) => found[to]!.promptTokens));
          close(sizes.outputTokens, outputTokens + along((to) => found[to]!.outputTokens));
          close(calls, (works[place]! + place > 0 ? 1 : 0) + along((to) => found[to]!.calls));
          close(
            sizes.toolMs,
            own.reduce((sum, { probability, ms }) => sum + probability * ms, 0) + along((to) => found[to]!.toolMs),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is told within the limits of a graph: 256 nodes', () => {
    const ids = Array.from({ length: 256 }, (_, place) => String(place));
    const edges = ids.slice(1).map((to, place) => ({ from: String(place), to }));
    expect(rest({ nodes: ids.map((id) => node(id)), edges })['0']).toMatchObject({ calls: 256 });
  });
});

describe('a graph', () => {
  const [one, two] = [[node('a')], [node('a'), node('b')]];
  it.each<[Omit<WorkflowInput, 'name'>, string]>([
    [{ nodes: [node('a'), node('a')] }, 'nodes.1.id'],
    [{ nodes: one, edges: [way('a', 'b')] }, 'edges.0.to'],
    [{ nodes: one, edges: [way('b', 'a')] }, 'edges.0.from'],
    [{ nodes: one, start: 'b' }, 'start'],
    [{ nodes: two }, 'nodes.1'],
    [{ nodes: one, edges: [way('a', 'a')] }, 'nodes.0'],
    [{ nodes: one, edges: [way('a', 'a', 0.9999999)] }, 'nodes.0'],
    [{ nodes: two, edges: [way('a', 'b', 0.6), way('a', 'a', 0.6)] }, 'nodes.0'],
    [{ nodes: two, edges: [way('a', 'b', 1), way('a', 'a')] }, 'nodes.0'],
    [{ nodes: two, edges: [way('a', 'b', 0.1), way('a', 'b', 0.2)] }, 'edges.1'],
    [{ nodes: two, edges: [way('a', 'b', 0.5), way('b', 'b')] }, 'nodes.1'],
  ])('is refused, with the place: %j', (given, place) => {
    expect(analysed(given).problems?.map(({ path }) => path.join('.'))).toEqual([place]);
  });

  it('is refused at every node of a cycle without a way out', () => {
    const { problems } = analysed({ nodes: two, edges: [way('a', 'b'), way('b', 'a')] });
    expect(problems?.map(({ path }) => path.join('.'))).toEqual(['nodes.0', 'nodes.1']);
  });
});
