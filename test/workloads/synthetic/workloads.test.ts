import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { programLine } from '../../../workloads/traces/maitred.js';
import type { AgentProgram } from '../../../workloads/program.js';
import { compose } from '../../../workloads/synthetic/compose.js';
import { specSchema, type SpecInput } from '../../../workloads/synthetic/spec.js';
import { WORKLOAD_NAMES, WORKLOADS } from '../../../workloads/synthetic/file.js';
import { readText } from '../../support/traces.js';
import { take } from '../../support/workload-figures.js';

/** Whether each program can be made: its calls name earlier ones, and keep no more of them than there is. */
async function faultsOf(all: readonly AgentProgram[]): Promise<string[]> {
  const { programs, problems } = await readText(all.map((each) => `${programLine(each)}\n`).join(''));
  expect(programs).toEqual(all);
  return problems;
}

it.each(WORKLOAD_NAMES)(
  '%s gives programs of different names that can be made, the same for the same seed, whatever is drawn before',
  async (name) => {
    const of = (count: number, seed: number) => take(WORKLOADS[name], count, seed);
    const all = of(40, 7);
    expect(of(40, 7)).toEqual(all);
    expect(of(3, 7)).toEqual(all.slice(0, 3));
    expect(of(40, 8).map(({ calls }) => calls)).not.toEqual(all.map(({ calls }) => calls));
    expect(new Set(all.map(({ id }) => id)).size).toBe(40);
    expect(await faultsOf(all)).toEqual([]);
  },
);

describe('a mixture', () => {
  it.each([
    ['mixed', ['chat', 'mcts', 'react']],
    ['fleet', ['chat', 'coding', 'mcts', 'react']],
  ] as const)('%s has equal parts of %j, each named', (name, parts) => {
    const counts = new Map<string, number>();
    for (const { workload = '' } of take(WORKLOADS[name], 4000)) counts.set(workload, (counts.get(workload) ?? 0) + 1);
    expect([...counts.keys()].toSorted()).toEqual(parts);
    for (const count of counts.values()) expect(Math.abs(count / 4000 - 1 / parts.length)).toBeLessThan(0.02);
  });

  it('of mixtures has the shares of shares', () => {
    const input: Record<string, SpecInput> = {
      one: { kind: 'agent', inputTokens: 1, outputTokens: 1 },
      two: { kind: 'agent', inputTokens: 2, outputTokens: 1 },
      inner: { kind: 'mixture', of: { one: 1, two: 3 } },
      outer: { kind: 'mixture', of: { inner: 2, one: 2 } },
    };
    const specs = new Map(Object.entries(input).map(([name, spec]) => [name, specSchema.parse(spec)]));
    const all = take(compose('outer', specs), 4000);
    const share = all.filter(({ workload }) => workload === 'one').length / 4000;
    expect(Math.abs(share - (0.5 + 0.125))).toBeLessThan(0.02);
    expect(all.every(({ workload, calls }) => calls[0]!.promptTokens === (workload === 'one' ? 1 : 2))).toBe(true);
  });
});

describe('shapes', () => {
  it('a tree expands and judges side by side, each time after all that came before', () => {
    const [{ calls }] = take(WORKLOADS.mcts, 1) as [AgentProgram];
    for (const [at, call] of calls.entries()) {
      const round = Math.floor(at / 5);
      expect(call.after).toEqual(round === 0 ? [] : [0, 1, 2, 3, 4].map((index) => (round - 1) * 5 + index));
      const isFirst = at % 5 === 0;
      if (!isFirst && round % 2 === 0) expect(call.prefix).toEqual({ call: round * 5, tokens: call.promptTokens });
    }
  });

  it('sub-agents are threads between two calls of their parent', () => {
    const [{ calls }] = take(WORKLOADS['map-reduce'], 1) as [AgentProgram];
    const threads = new Set(calls.map(({ thread }) => thread));
    const last = calls.at(-1)!;
    expect([calls[0]!.thread, last.thread]).toEqual(['', '']);
    expect(last.after).toHaveLength(threads.size);
    for (const thread of threads) {
      const own = calls.flatMap((call, index) => (call.thread === thread ? [index] : []));
      if (thread === '') continue;
      expect(calls[own[0]!]!.after).toEqual([0]);
      expect(last.after).toContain(own.at(-1)!);
    }
  });

  const promptsOf = (spec: object) => {
    const all = { kind: 'agent', outputTokens: 50, ...spec } as SpecInput;
    return take(compose('x', new Map([['x', specSchema.parse(all)]])), 1)[0]!.calls;
  };

  it('what was reasoned is not sent back', () => {
    const [, second] = promptsOf({ turns: 2, inputTokens: 10, reasoningTokens: 20 });
    expect(second).toMatchObject({ promptTokens: 10 + 30 + 10, prefix: { call: 0, tokens: 10 } });
  });

  it.each([
    [90, [90, 230]],
    [{ dist: 'log-normal', median: 1000, p95: 1000, max: 1000 }, [250]],
  ])(
    'a program ends before its context is full, but not before its first call of %j tokens',
    (inputTokens, prompts) => {
      const calls = promptsOf({ turns: 9, inputTokens, contextTokensMax: 300 });
      expect(calls.map(({ promptTokens }) => promptTokens)).toEqual(prompts);
    },
  );
});

/** A number, or a range. */
const size = (least: number, most: number) => {
  const one = fc.integer({ min: least, max: most });
  const range = fc
    .tuple(one, one)
    .map(([a, b]) => ({ dist: 'uniform' as const, min: Math.min(a, b), max: Math.max(a, b) }));
  return fc.oneof(one, range);
};
const system = fc.record({ name: fc.constantFrom('a', 'b'), tokens: fc.integer({ min: 1, max: 500 }) });
const agent = fc.record({
  system: fc.array(system, { maxLength: 2 }),
  turns: size(1, 4),
  inputTokens: size(1, 2000),
  callsPerTurn: size(1, 4),
  outputTokens: size(1, 500),
  reasoningTokens: size(0, 800),
  tools: fc.record({ name: fc.constant('tool'), ms: size(0, 50), resultTokens: size(0, 90) }).map((tool) => [tool]),
  thinkMs: size(0, 1000),
  contextTokensMax: fc.integer({ min: 3001, max: 8000 }),
});
const asked = fc.record({ system, outputTokens: size(1, 100) });
const anySpec: fc.Arbitrary<SpecInput> = fc.oneof(
  agent.map((keys) => ({ kind: 'agent' as const, ...keys })),
  fc.record({
    kind: fc.constant('tree' as const),
    inputTokens: size(1, 100),
    expansions: size(1, 9),
    branch: size(1, 4),
    depthMax: size(1, 4),
    rolloutDepth: size(1, 6),
    expand: asked,
    evaluate: asked,
    resultTokens: size(0, 50),
    toolMs: size(0, 9),
  }),
  fc.record({
    kind: fc.constant('map-reduce' as const),
    system,
    inputTokens: size(1, 100),
    outputTokens: size(1, 100),
    rounds: size(1, 3),
    subAgents: size(1, 4),
    subAgent: agent,
  }),
);

describe('any workload', () => {
  it('gives programs that can be made', async () => {
    const drawn = fc.sample(anySpec, { numRuns: 150, seed: 11 });
    const all = drawn.flatMap((spec, index) =>
      take(compose(`w${index}`, new Map([[`w${index}`, specSchema.parse(spec)]])), 2),
    );
    expect(await faultsOf(all)).toEqual([]);
    for (const { calls } of all) for (const call of calls) expect(call.outputTokens).toBeGreaterThan(0);
  });
});
