import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../sidecar/config/problems.js';
import { fileOf } from '../../support/folder.js';
import { ask, bearer, configOf, fakeEngine, keysOf, post, world } from './world.js';

const TENANTS = keysOf('a', 'b');

const node = (id: string) => ({ id, promptTokens: 100, outputTokens: 10 });
const LOOP = {
  name: 'fix',
  nodes: [node('agent'), { id: 'tools' }],
  edges: [
    { from: 'agent', to: 'tools', probability: 0.75 },
    { from: 'tools', to: 'agent' },
  ],
};
const register = (url: string, body: unknown) => post(`${url}/v1/workflows`, body);

describe('a workflow of the configuration', () => {
  const CHAIN = { name: 'chain', nodes: [node('only')] };
  const file = (content: unknown): string => fileOf('workflow.json', JSON.stringify(content));
  const listed = async (url: string, headers = {}) =>
    (await ask(`${url}/v1/workflows`, { headers })).json()['workflows'];
  const refused = (reload: () => void): string => {
    try {
      reload();
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map(({ origin, path }) => `${origin}: ${path}`).join();
    }
    return '';
  };

  it('is there from the start, for all tenants or for one', async () => {
    const workflows = [file(LOOP), { file: fileOf('w', 'name: chain\nnodes: [{id: only}]'), tenant: 'b' }];
    const { url } = await world([await fakeEngine()], { auth: { keys: TENANTS }, workflows });
    const [fix, chain] = [{ name: 'fix', version: 1, nodes: 2 }, { name: 'chain', version: 1, nodes: 1 }]; // prettier-ignore
    expect(await listed(url, bearer('a'))).toEqual([fix]);
    expect(await listed(url, bearer('b'))).toEqual([fix, chain]);
    expect(() => configOf([], { workflows: [{ file: 'x', tenant: 'b' }] })).toThrow('auth.keys');
  });

  it('follows its file at a reload; what clients have registered stays', async () => {
    const [engine, path] = [await fakeEngine(), file(CHAIN)];
    const { url, gateway } = await world([engine], { workflows: [path] });
    await register(url, LOOP);
    writeFileSync(path, JSON.stringify({ ...CHAIN, nodes: [node('first')] }));
    gateway.reload(configOf([engine], { workflows: [path] }));
    const fix = { name: 'fix', version: 1, nodes: 2 };
    expect(await listed(url)).toEqual([{ name: 'chain', version: 2, nodes: 1 }, fix]);
    gateway.reload(configOf([engine], { workflows: [path, file(LOOP)] }));
    gateway.reload(configOf([engine]));
    expect(await listed(url)).toEqual([fix]);
  });

  it('is refused with the file and field at fault, and the old ones stay, as does the rest', async () => {
    const engine = await fakeEngine();
    const path = file(CHAIN);
    const { url, gateway } = await world([engine], { workflows: [path] });
    const bad = fileOf('w', '{\n"name": "x",\n"nodes": [{"id": "a", "promptTokens": -1}]\n}');
    const astray = file({ ...CHAIN, edges: [{ from: 'only', to: 'x' }] });
    for (const [workflows, faults] of [
      [[bad, path, astray], `${bad}:3: nodes[0].promptTokens,${astray}:1: edges[0].to`],
      [['/nowhere'], '/nowhere: '],
      [[path, path], `${path}: name`],
    ] as const) {
      const config = configOf([engine], { workflows, policy: { name: 'pass-through' } });
      expect(refused(() => gateway.reload(config))).toBe(faults);
      await expect(world([engine], { workflows })).rejects.toThrow(ConfigError);
    }
    expect(await listed(url)).toEqual([{ name: 'chain', version: 1, nodes: 1 }]);
    expect((await ask(`${url}/metrics`)).text).toContain('policy="plas"');
  });
});
