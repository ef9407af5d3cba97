import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support/command-line.js';
import { fileOf, folderOf } from '../support/folder.js';

const GRAPH = `name: fix
nodes:
  - { id: agent, promptTokens: 900, outputTokens: 250 }
  - { id: tools }
edges:
  - { from: agent, to: tools, probability: 0.75, ms: 2000 }
  - { from: tools, to: agent }
`;
const json = (value: unknown) => JSON.stringify(value);

describe('maitred workflow check', () => {
  it('prints the rest from each node, as a table or as JSON', async () => {
    const file = fileOf('w.yaml', GRAPH);
    const { code, out, errors } = await run(['workflow', 'check', file]);
    expect([code, errors]).toEqual([0, []]);
    expect(out).toMatch(/^fix\n\nnode +calls +prompt tokens .*\nagent +4 +3,600 +1,000 +6 +1\ntools /);
    const whole = JSON.parse((await run(['workflow', 'check', file, '--json'])).out) as object;
    expect(whole).toMatchObject({ version: 1, name: 'fix', rest: [{ id: 'agent', calls: 4 }, { id: 'tools' }] });
  });

  it('names every fault with its line, and exits 2', async () => {
    const bad = GRAPH.replace('0.75', '2').replace('{ id: tools }', '{ id: tools, color: red }');
    const { code, out, errors } = await run(['workflow', 'check', fileOf('bad.yaml', bad)]);
    expect([code, out]).toEqual([2, '']);
    expect(errors).toEqual([
      expect.stringMatching(/bad\.yaml:4: nodes\[1\]\.color: /),
      expect.stringMatching(/bad\.yaml:6: edges\[0\]\.probability: /),
    ]);
    const endless = await run(['workflow', 'check', fileOf('e.yaml', GRAPH.replace('0.75', '1'))]);
    expect([endless.code, endless.errors.length]).toEqual([2, 2]);
    expect((await run(['workflow', 'check', '/nowhere.yaml'])).code).toBe(2);
  });
});

/** As LangGraph's `to_json()`. */
const node = (id: string, name = id, path = ['langgraph', 'RunnableCallable']) => ({
  id,
  type: 'runnable',
  data: { id: path, name },
});
const edge = (source: string, target: string, conditional = false) => ({
  source,
  target,
  ...(conditional && { conditional }),
});
const langGraph = (nodes: object[], edges: object[]) =>
  json({ nodes: [node('__start__'), ...nodes, node('__end__')], edges });

async function imported(file: string, ...more: string[]) {
  const out = join(folderOf({}), 'made.json');
  const { code, errors } = await run(['workflow', 'import', file, '--out', out, ...more]);
  expect([code, errors]).toEqual([0, []]);
  const check = await run(['workflow', 'check', out, '--json']);
  expect([check.code, check.errors]).toEqual([0, []]);
  return {
    made: JSON.parse(readFileSync(out, 'utf8')) as { name: string },
    rest: (JSON.parse(check.out) as { rest: { id: string; calls: number; promptTokens: number }[] }).rest,
  };
}

describe('maitred workflow import', () => {
  it('makes a workflow of a LangGraph loop: branches are equally likely, tool nodes call no model', async () => {
    const tools = node('tools', 'tools', ['langgraph', 'prebuilt', 'tool_node', 'ToolNode']);
    const file = fileOf(
      'my agent.json',
      langGraph(
        [node('agent'), tools],
        [
          edge('__start__', 'agent'),
          edge('agent', 'tools', true),
          edge('agent', '__end__', true),
          edge('tools', 'agent'),
        ],
      ),
    );
    const { made, rest } = await imported(file, '--prompt-tokens', '300');
    expect(made.name).toBe('my-agent');
    expect(rest).toMatchObject([
      { id: 'agent', calls: 2, promptTokens: 600 },
      { id: 'tools', calls: 2 },
    ]);
  });

  it('puts what LangGraph runs side by side one behind the other, and refuses what it cannot', async () => {
    const nodes = ['plan', 'a', 'b', 'sum'].map((id) => node(id));
    const edges = [edge('__start__', 'plan'), edge('plan', 'a'), edge('plan', 'b'), edge('a', 'sum')];
    const { rest } = await imported(
      fileOf('g.json', langGraph(nodes, [...edges, edge('b', 'sum'), edge('sum', '__end__')])),
    );
    expect(rest.map(({ id, calls }) => [id, calls])).toEqual([
      ['plan', 4],
      ['a', 3],
      ['b', 2],
      ['sum', 1],
    ]);
    const uneven = langGraph(nodes, [...edges, edge('b', '__end__'), edge('sum', '__end__')]);
    const endless = langGraph(nodes, [edge('__start__', 'plan'), edge('plan', 'a'), edge('a', 'plan')]);
    expect((await run(['workflow', 'import', fileOf('e.json', endless)])).code).toBe(2);
    const { code, errors } = await run(['workflow', 'import', fileOf('h.json', uneven)]);
    expect([code, errors]).toEqual([2, [expect.stringContaining('plan')]]);
  });

  it('makes a workflow of an AIPerf dag_jsonl session and all that it begins', async () => {
    const turn = (content: string, more = {}) => ({ messages: [{ role: 'user', content }], max_tokens: 50, ...more });
    const lines = [
      {
        session_id: 'root',
        turns: [turn('plan', { spawns: ['x', { children: ['y'], join_at: 1 }] }), turn('sum', { delay: 800 })],
      },
      { session_id: 'x', turns: [turn('x'), turn('more', { forks: [{ child: 'z', background: true }] })] },
      { session_id: 'y', turns: [turn('y')] },
      { session_id: 'z', turns: [turn('z'.repeat(400))] },
    ];
    const file = fileOf('dag.jsonl', lines.map(json).join('\n'));
    const { made, rest } = await imported(file);
    expect(made).toMatchObject({
      name: 'dag',
      edges: expect.arrayContaining([{ from: 'y/0', to: 'root/1', ms: 800 }]) as unknown,
    });
    expect(rest.map(({ id }) => id)).toEqual(['root/0', 'x/0', 'x/1', 'z/0', 'y/0', 'root/1']);
    expect(rest[0]).toMatchObject({ calls: 6, outputTokens: 300, toolMs: 800 });
    expect(rest[3]!.promptTokens - rest[4]!.promptTokens).toBeGreaterThan(100);
    const several = fileOf('two.jsonl', [lines[2], lines[3]].map(json).join('\n'));
    expect((await run(['workflow', 'import', several])).code).toBe(2);
    expect((await imported(several, '--session', 'z')).rest).toHaveLength(1);
    const bad: unknown[][] = [
      [lines[0]],
      [lines[2], lines[2]],
      [{ session_id: 'o', orchestrator: true, turns: [] }],
      [{ no: 1 }],
      [],
    ];
    for (const [index, some] of bad.entries()) {
      const { code, errors } = await run([
        'workflow',
        'import',
        fileOf(`bad${index}.jsonl`, some.map(json).join('\n')),
      ]);
      expect([index, code, errors.length]).toEqual([index, 2, 1]);
    }
  });
});
