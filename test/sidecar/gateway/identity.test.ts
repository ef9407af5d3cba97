import { describe, expect, it } from 'vitest';
import { ask, chat, fakeEngine, heldEngine, until, world } from './world.js';

const user = (content: string) => ({ role: 'user', content });
const answered = { role: 'assistant', content: 'hi' };

interface Row {
  readonly id: string;
  readonly calls: number;
  readonly active_calls: number;
  readonly idle_seconds: number;
}

interface Detail extends Row {
  readonly threads: readonly { readonly thread: string; readonly calls: number; readonly active: readonly unknown[] }[];
}

describe('programs of a gateway', () => {
  it('are not made of unrelated calls that share a prompt_cache_key', async () => {
    const { engine, open } = await heldEngine();
    const { url } = await world([engine]);
    const programs = async () => ((await ask(`${url}/programs`)).json() as { programs: Row[] }).programs;
    const calls = [0, 1, 2, 3, 4].map((i) => chat(url, { prompt_cache_key: 'app-v3', messages: [user(`task ${i}`)] }));
    await until(
      async () => (await programs()).reduce((sum, program) => sum + program.active_calls, 0) === calls.length,
    );
    open();
    await Promise.all(calls);
    const rows = await programs();
    expect(rows.map((row) => row.calls)).toEqual([1, 1, 1, 1, 1]);
    expect(rows.filter(({ id }) => id === 'app-v3')).toHaveLength(1);
  });

  it('begin anew when a load tool uses an id again', async () => {
    const { url } = await world([await fakeEngine()], { identity: { reuseMs: 1 } });
    const headers = { 'x-session-id': 'conv_0' };
    const detail = async () => (await ask(`${url}/programs/conv_0`)).json() as unknown as Detail;
    await chat(url, { messages: [user('a')] }, headers);
    await chat(url, { messages: [user('a'), answered, user('b')] }, headers);
    expect((await detail()).calls).toBe(2);
    await until(async () => (await detail()).idle_seconds > 0.001);
    await chat(url, { messages: [user('a')] }, headers);
    expect((await detail()).calls).toBe(1);
  });

  it('show the threads of their calls, ended ones too', async () => {
    const { url } = await world([await fakeEngine()]);
    for (const thread of ['', 'a', 'b', 'a']) {
      await chat(url, {}, { 'x-maitred-program': 'p', ...(thread !== '' && { 'x-maitred-thread': thread }) });
    }
    const { threads } = (await ask(`${url}/programs/p`)).json() as unknown as Detail;
    expect(threads).toEqual([
      { thread: '', calls: 1, active: [] },
      { thread: 'a', calls: 2, active: [] },
      { thread: 'b', calls: 1, active: [] },
    ]);
  });
});

it.each(['a b', '<run>', 'x/y', '50%', 'a%20b', 'plain-1'])(
  'the answer names program %j so that its name finds it in paths',
  async (program) => {
    const { url, adminUrl } = await world([await fakeEngine()]);
    const got = await chat(url, {}, { 'x-maitred-program': program });
    const name = String(got.headers['x-maitred-program']);
    expect(decodeURIComponent(name)).toBe(program);
    const found = await ask(`${adminUrl}/programs/${name}`);
    expect([found.status, found.json()]).toMatchObject([200, { id: program }]);
    expect((await ask(`${adminUrl}/programs/${name}/end`, { method: 'POST' })).status).toBeLessThan(300);
  },
);
