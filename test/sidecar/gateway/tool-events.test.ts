import { describe, expect, it } from 'vitest';
import {
  named,
  ask,
  bearer,
  chat,
  completion,
  errorCode,
  fakeEngine,
  keysOf,
  post,
  recording,
  world,
} from './world.js';

describe('POST /programs/{id}/events', () => {
  const tell = (url: string, program: string, body: unknown, headers = {}) =>
    post(`${url}/programs/${program}/events`, body, headers);
  const BASH = { type: 'tool_started', tool: 'bash' };

  /** A gateway with one program of tenant `a`, and the tools that were told. */
  async function telling(overrides: Record<string, unknown> = {}, headers = {}) {
    const { steps, recorder } = recording();
    const { url, adminUrl } = await world([await fakeEngine(completion())], overrides, { recorder });
    const named = { ...headers, 'x-maitred-program': 'p' };
    await chat(url, {}, named);
    await chat(url, {}, { ...named, 'x-maitred-thread': 'helper' });
    const told = () => steps.map(({ event }) => event).filter(({ type }) => /^tool(Started|Finished)$/.test(type));
    return { url, adminUrl, told };
  }

  it('tells when tools of the root or of a sub-agent begin and end', async () => {
    const { url, told } = await telling();
    const got = await tell(url, 'p', { ...BASH, expectedMs: 2_000 });
    expect([got.status, got.json()]).toEqual([200, { noted: true, used: false, id: 'p', tenant: 'default' }]);
    expect(got.headers['x-maitred-reason']).toBe('noted');
    const long = `${'x'.repeat(127)}yz`;
    await tell(url, 'p', { type: 'tool_finished', tool: ' bash ', thread: 'p' });
    await tell(url, 'p', { ...BASH, tool: long, thread: ' helper' });
    await tell(url, 'default%3Ap', BASH);
    const root = { program: 'default:p', thread: '', tool: 'bash' };
    expect(told()).toEqual([
      { type: 'toolStarted', ...root, expectedMs: 2_000 },
      { type: 'toolFinished', ...root },
      { type: 'toolStarted', ...root, thread: 'helper', tool: long.slice(0, 128) },
      { type: 'toolStarted', ...root },
    ]);
  });

  it('is refused where it is malformed or its program unknown, with the field to change', async () => {
    const { url, told } = await telling();
    for (const [body, param] of [
      [[], undefined],
      [{}, 'type'],
      [{ type: 'tool_paused', tool: 'bash' }, 'type'],
      [{ type: 'tool_started' }, 'tool'],
      [{ ...BASH, tool: ' ' }, 'tool'],
      [{ ...BASH, tool: 'x'.repeat(257) }, 'tool'],
      [{ ...BASH, thread: 5 }, 'thread'],
      [{ ...BASH, expectedMs: -1 }, 'expectedMs'],
      [{ ...BASH, expectedMs: 1e12 }, 'expectedMs'],
      [{ type: 'tool_finished', tool: 'bash', expectedMs: 5 }, 'expectedMs'],
    ] as const) {
      const refused = await tell(url, 'p', body);
      const { error } = refused.json() as { error: { param?: string } };
      expect([refused.status, errorCode(refused.text), error.param ?? undefined]).toEqual([400, 'invalid_body', param]);
    }
    expect((await tell(url, 'q', BASH)).status).toBe(404);
    expect(told()).toEqual([]);
  });

  it('reaches only programs of the caller’s tenant, and says that it is used', async () => {
    const overrides = { auth: { keys: keysOf('a', 'b') }, admin: { port: 0 }, policy: { foresight: 'learnt' } };
    const { url, adminUrl, told } = await telling(overrides, bearer('a'));
    const statuses = [
      await tell(url, 'p', BASH),
      await tell(url, 'p', BASH, bearer('b')),
      await tell(url, 'p', BASH, bearer('a')),
      await post(`${adminUrl}/programs/p/events?tenant=a`, BASH),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([401, 404, 200, 200]);
    expect(statuses[2]!.json()).toMatchObject({ used: true, tenant: 'a' });
    expect(told()).toHaveLength(2);
  });

  it('and answers let the next call be foreseen', async () => {
    const called = { id: 'c', type: 'function', function: { name: 'bash', arguments: '{}' } };
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: [called] } };
    const overrides = { policy: { foresight: 'learnt' } };
    const { url } = await world([await fakeEngine(completion({ choices: [choice] }))], overrides);
    const nextOf = async (program: string) => {
      const detail = (await ask(`${url}/programs/${program}`)).json() as { threads: { next: unknown }[] };
      return detail.threads[0]!.next;
    };
    for (let done = 0; done < 30; done += 1) {
      await chat(url, {}, named(`p${done}`));
      await chat(url, {}, { 'x-maitred-program': `p${done}`, 'x-maitred-final': 'true' });
    }
    expect(await nextOf('p0').catch(() => 'gone')).toBe('gone');
    await chat(url, {}, named('p'));
    const foreseen = { tools: 'bash', more_tokens: expect.any(Number) as number };
    expect(await nextOf('p')).toMatchObject(foreseen);
    expect(((await nextOf('p')) as { probability: number }).probability).toBeCloseTo(0.5, 1);
  });
});
