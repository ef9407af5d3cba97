import { describe, expect, it } from 'vitest';
import { engine as standIn } from '../../sim/client.js';
import { chat, chatBody, completion, fakeEngine, metrics, named, post, until, world } from './world.js';

/** Engines that evict contexts of no open session first. */

const OURS = 'maitred_scheduler_info{protocol="1"} 1.0\n';

const end = (url: string, program: string) => post(`${url}/programs/release`, { program_id: program });

async function engineOf(kind: 'vllm' | 'sglang', probes: Record<string, string>) {
  const engine = await fakeEngine();
  for (const [path, text] of Object.entries(probes)) engine.probes.set(path, text);
  const made = await world([], { engines: [{ url: engine.url, kind }] });
  const body = () => JSON.parse(engine.last.body.toString()) as Record<string, unknown>;
  return { engine, ...made, body };
}

describe('vLLM with our scheduler', () => {
  it('is told each program’s session, and with a later call which of them are over', async () => {
    const { url, adminUrl, body } = await engineOf('vllm', { '/metrics': OURS });
    const xargs = async (program: string, more: object = {}) => {
      await chat(url, more, named(program));
      return body()['vllm_xargs'] as Record<string, unknown>;
    };
    const first = await xargs('a');
    expect(first).toEqual({ maitred_session: first['maitred_session'], maitred_lease_s: 1800, maitred_close: [] });
    expect(first['maitred_session']).toMatch(/^[\w-]{22}$/);
    expect(await xargs('a')).toEqual(first);
    expect((await xargs('b'))['maitred_session']).not.toBe(first['maitred_session']);
    await end(url, 'a');
    expect((await xargs('b'))['maitred_close']).toEqual([first['maitred_session']]);
    expect((await xargs('b'))['maitred_close']).toEqual([]);
    expect((await metrics(adminUrl)).get('maitred_memory_sessions_closed_total')).toBe(1);
  });

  it('gets the client’s own arguments beside ours, but no word of a client about sessions', async () => {
    const { url, body } = await engineOf('vllm', { '/metrics': OURS });
    await chat(url, { vllm_xargs: { job: 7, maitred_session: 'x', maitred_close: ['y'] } }, named('a'));
    expect(body()['vllm_xargs']).toMatchObject({ job: 7, maitred_session: expect.stringMatching(/^.{22}$/) as string });
    expect(body()['vllm_xargs']).toMatchObject({ maitred_close: [] });
  });

  it.each([
    ['without it', 'vllm:num_requests_running 0\n'],
    ['with another version of it', OURS.replace('1"', '2"')],
    ['without a prefix cache', `${OURS}vllm:cache_config_info{enable_prefix_caching="False"} 1\n`],
  ])('%s hears nothing of sessions', async (_case, text) => {
    const { url, adminUrl, body } = await engineOf('vllm', { '/metrics': text });
    await chat(url, {}, named('a'));
    await end(url, 'a');
    expect(body()).not.toHaveProperty('vllm_xargs');
    expect((await metrics(adminUrl)).get('maitred_memory_sessions_closed_total')).toBe(0);
  });
});

describe('SGLang with --enable-session-radix-cache', () => {
  it('is told each program’s session, and its end', async () => {
    const info = JSON.stringify({ enable_session_radix_cache: true });
    const { engine, url, body } = await engineOf('sglang', { '/server_info': info });
    await chat(url, { session_id: 'the client’s' }, named('a'));
    const session = body()['session_id'];
    expect(session).toMatch(/^[\w-]{22}$/);
    await chat(url, {}, named('b'));
    expect(body()['session_id']).not.toBe(session);
    await post(`${url}/v1/messages`, chatBody({ max_tokens: 1 }), named('a'));
    expect(body()).not.toHaveProperty('session_id');
    await end(url, 'a');
    await until(() => engine.closes.length > 0);
    expect(engine.closes).toEqual([session]);
  });

  it('hears nothing of sessions without the flag', async () => {
    const { engine, url, body } = await engineOf('sglang', { '/server_info': '{}' });
    engine.answer = completion();
    await chat(url, {}, named('a'));
    expect(body()).not.toHaveProperty('session_id');
  });
});

/** Tokens that a program finds cached after others, each of one call, have filled the rest of the cache twice. */
async function foundAfterOthers(sessions: boolean): Promise<unknown> {
  const { url: made } = await standIn({ speed: 1000, models: ['m'], kvTokens: 1024, sessions });
  const { url } = await world([], { engines: [{ url: made }], policy: { name: 'pass-through' } });
  const call = async (program: string) => {
    const messages = [{ role: 'user', content: `${program} `.repeat(300) }];
    const got = await chat(url, { messages, max_tokens: 1 }, named(program));
    return (got.json()['usage'] as { prompt_tokens_details?: { cached_tokens: number } }).prompt_tokens_details;
  };
  await call('long');
  for (const other of ['one', 'two', 'six', 'ten']) {
    await call(other);
    await end(url, other);
  }
  return (await call('long'))?.cached_tokens;
}

describe('the stand-in engine', () => {
  it('keeps contexts of open sessions over those of ended programs, if it has sessions', async () => {
    expect(await foundAfterOthers(true)).toBeGreaterThan(250);
    expect(await foundAfterOthers(false)).toBe(0);
  });
});
