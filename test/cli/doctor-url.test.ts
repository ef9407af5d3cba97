import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { GatewayState } from '../../sidecar/admin/answers.js';
import { run } from '../support/command-line.js';
import { modelList } from '../support/fake-engine.js';
import { fileOf } from '../support/folder.js';
import { slower as slowerBy } from '../support/shadow.js';
import { chat, fakeEngine, world } from '../sidecar/gateway/world.js';
import { examine, vllm } from './examine.js';

describe('maitred doctor --url', () => {
  it('looks at a running gateway: its engines, its queue, and who its programs are, in 80 columns', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    expect((await examine(['--url', url])).about('no call was accepted so far')).toMatchObject([{ level: 'note' }]);
    const { code: fine, out } = await run(['doctor', '--url', url], { MAITRED_LISTEN_PORT: '0' });
    expect(fine).toBe(0);
    expect(out).toMatch(/^1 warning, 1 note, 3 ok\n\nwarning {2}gateway[^]*\nok {7}gateway: /);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    for (let call = 0; call < 20; call += 1) await chat(url, { messages: [{ role: 'user', content: `${call}` }] });
    const { code, about } = await examine(['--url', url]);
    expect(code).toBe(0);
    expect(about('gateway: 1 engine up')).toMatchObject([{ level: 'ok' }]);
    expect(about('20 of 20 recent calls began a program of their own')).toMatchObject([
      { level: 'warning', advice: expect.stringContaining('x-maitred-program') as string },
    ]);
    expect(about('unknown size')).toMatchObject([{ level: 'warning', subject: `gateway’s engine ${engine.id}` }]);
    expect(about('calls: No call waits')).toHaveLength(1);
    // What is configured here is another matter.
    expect(about('configuration')).toEqual([]);
  });

  it('asks with the token of the file, unless another one is named', async () => {
    const admin = { token: 'a-long-token' };
    const { url } = await world([await fakeEngine()], { admin });
    const of = (...more: string[]) =>
      examine(['--url', url, '--config', fileOf('own.yaml', stringify({ admin })), ...more], { WRONG: 'no' });
    expect((await of()).about('1 engine up')).toHaveLength(1);
    expect((await of('--token', 'WRONG')).about('refuses the admin token')).toMatchObject([{ level: 'broken' }]);
    const secure = await examine(['--url', url.replace('http', 'https')]);
    expect(secure.about('no TLS there')).toMatchObject([{ level: 'broken' }]);
  });

  it('tells models that an engine does not list, a gate that is off, and what to do about calls that fail', async () => {
    const engine = await vllm();
    const engines = [{ url: engine.url, models: ['m', 'ghost'] }];
    const { url } = await world([], { engines, admission: { gate: 0 } });
    expect((await chat(url, { model: 'other' })).status).toBe(404);
    const { about, levels } = await examine(['--url', url]);
    expect(about('does not list ghost')).toMatchObject([{ level: 'warning' }]);
    expect(about('no gate protects')).toMatchObject([{ level: 'warning' }]);
    expect(about('unknown_model')).toMatchObject([
      { advice: expect.stringContaining('OPERATIONS.md#errors') as string },
    ]);
    expect(levels.has('broken')).toBe(false);
  });

  it('warns of an estimate that programs are slower than without scheduling, as the first line of the page does', async () => {
    const { url } = await world([await fakeEngine()], {}, { shadow: slowerBy() });
    const { code, about } = await examine(['--url', url]);
    const slower =
      /In the 15 min until 1 min(?: \d s)? ago, programs ended an estimated 1\.25x slower than without scheduling \(1\.11 to 1\.43\)\./;
    const found = expect.stringMatching(slower) as string;
    expect([code, about('gain: ')]).toMatchObject([
      0,
      [{ level: 'warning', found, advice: expect.stringContaining('pass-through') as string }],
    ]);
    const { status } = (await (await fetch(`${url}/gateway`)).json()) as GatewayState;
    expect(status).toMatchObject({ level: 'warn', text: found });
  });

  it('tells what has no effect in the settings of the gateway, and what its file has too but once', async () => {
    const engine = await fakeEngine();
    const policy = { name: 'pass-through' };
    const { url } = await world([engine], { policy });
    const note = [{ level: 'note', found: 'calls are balanced, but not scheduled' }];
    expect((await examine(['--url', url])).about('policy.name: ')).toMatchObject(note);
    const file = fileOf('own.yaml', stringify({ policy, engines: [{ url: engine.url }] }));
    expect((await examine(['--url', url, '--config', file])).about('policy.name: ')).toMatchObject(note);
  });

  it('tells engines of the file that the gateway does not have, and the reverse', async () => {
    const [ran, named] = [await vllm(), await vllm()];
    const { url } = await world([], { engines: [{ url: ran.url, id: 'a' }] });
    const of = async (engines: object[]) =>
      (await examine(['--url', url, '--config', fileOf('own.yaml', stringify({ engines }))])).about(
        'gateway: runs with',
      );
    const found = [
      `runs without engines of the file: b (${named.url}/)`,
      `runs with engines that the file lacks: a (${ran.url}/)`,
    ];
    expect(await of([{ url: named.url, id: 'b' }])).toMatchObject(
      found.map((each) => ({ level: 'warning', found: each })),
    );
    expect(await of([{ url: ran.url, id: 'a' }])).toEqual([]);
  });

  it('is broken where no other engine has the models of one that is out of service', async () => {
    const [one, two, alone] = [await fakeEngine(), await fakeEngine(), await vllm({ '/v1/models': modelList(['x']) })];
    const { url } = await world([one, two, alone]);
    const afterDrainOf = async (id: string) => {
      await fetch(`${url}/engines/${id}/drain?force`, { method: 'POST' });
      return (await examine(['--url', url])).about('that no other serves');
    };
    const lost = { level: 'broken', subject: 'engines', found: expect.stringContaining(alone.id) as string };
    expect([await afterDrainOf(one.id), await afterDrainOf(alone.id)]).toMatchObject([[], [lost]]);
    await fetch(`${url}/engines/${two.id}/drain?force`, { method: 'POST' });
    const { findings } = await examine(['--url', url]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: 'broken',
        advice: expect.stringContaining(`engines undrain ${one.id}`) as string,
      }),
    );
  });

  it('is broken where the gateway is not there, refuses, or has no engine or one that is down', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine, await fakeEngine()], { health: { intervalMs: 20, failuresMax: 1 } });
    await engine.close();
    const isDown = async () => (await examine(['--url', url])).about('has been down');
    await expect.poll(isDown).toMatchObject([{ level: 'broken' }]);
    const refusing = await world([], { admin: { token: 'a-long-token' } });
    expect((await examine(['--url', `${url}/x`])).about('leave it out of --url')).toMatchObject([{ level: 'broken' }]);
    expect(
      (await examine(['--url', 'http://127.0.0.1:1'])).about('cannot be reached: connection refused: is'),
    ).toMatchObject([{ level: 'broken' }]);
    const dead = await world([], { engines: [{ url: 'http://127.0.0.1:1', models: ['m'] }] });
    expect((await examine(['--url', dead.url])).about('0 of 1 engine up')).toMatchObject([{ level: 'broken' }]);
    for (const each of [url, (await world([])).url, refusing.url])
      expect((await examine(['--url', each])).code).toBe(1);
  });
});
