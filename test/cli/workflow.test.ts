import { describe, expect, it } from 'vitest';
import { run } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';

const GRAPH = `name: fix
nodes:
  - { id: agent, promptTokens: 900, outputTokens: 250 }
  - { id: tools }
edges:
  - { from: agent, to: tools, probability: 0.75, ms: 2000 }
  - { from: tools, to: agent }
`;

describe('maitred workflow check', () => {
  it('prints the rest from each node, as a table or as JSON', async () => {
    const file = fileOf('w.yaml', GRAPH);
    const { code, out, errors } = await run(['workflow', 'check', file]);
    expect([code, errors]).toEqual([0, []]);
    expect(out).toMatch(/^fix\n\nnode +calls +prompt tokens .*\nagent +4 +3,600 +1,000 +6\ntools /);
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
