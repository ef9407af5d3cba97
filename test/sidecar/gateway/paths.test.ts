import { describe, expect } from 'vitest';
import { bearer, keysOf, JSON_TYPE, chatBody, errorCode, lone, rawRequest, refusal, replies, it } from './world.js';

const auth = { keys: keysOf('a', 'b') };
const ANY_PATH = { passthrough: { paths: ['/v1/*'] } };

/** Routes like FastAPI and others: by the decoded path, without parameters. */
const responses = replies(200, { id: 'resp_1', object: 'response', status: 'completed', output: [], secret: true });

const request = (method: string, path: string, headers: Record<string, string> = {}, body = '') =>
  rawRequest(method, path, { connection: 'close', ...headers }, body);

describe('a path that an engine could read as one of the gateway’s own', () => {
  it('leads to no other tenant’s response, whatever is permitted', async () => {
    const paths = [
      '/v1/responses%2Fresp_1',
      '/v1/responses%252Fresp_1',
      '/v1/responses;/resp_1',
      '/v1/responses%3B/resp_1',
      '/v1/%72esponses%2Fresp_1',
      '/v1/Responses/resp_1',
      '/v1//responses%2Fresp_1',
      '/v1/x%2F..%2Fresponses%2Fresp_1',
      '/v1/./responses/resp_1',
      '/v1/responses/resp_1%3Fx',
      '/v1/responses/resp_1%23',
      '/v1/responses%5Cresp_1',
    ];
    const { engine, ask, raw } = await lone(responses, { auth, ...ANY_PATH });
    const body = JSON.stringify({ model: 'm', input: 'private' });
    const made = await ask('/v1/responses', { headers: { ...JSON_TYPE, ...bearer('a') }, body });
    expect(made.status).toBe(200);
    for (const path of paths)
      for (const method of ['GET', 'DELETE', 'POST'])
        expect([path, await raw(request(method, path, bearer('b')))]).toEqual([
          path,
          expect.stringMatching(/^HTTP.1.1 4(?![^]*secret)/),
        ]);
    expect(engine.seen).toHaveLength(1);
  });

  it.each([
    '/v1/chat%2Fcompletions',
    '/v1/chat/completions;v=1',
    '/v1/chat/completions%3Fx',
    '/v1/Chat/Completions',
    '/v1/chat%2F%2Fcompletions%2F',
  ])('goes past no queue: %s', async (path) => {
    const { engine, raw } = await lone(undefined, ANY_PATH);
    const text = await raw(request('POST', path, JSON_TYPE, chatBody()));
    expect([text.slice(9, 12), errorCode(text)]).toEqual(['400', 'invalid_path']);
    expect(engine.seen).toEqual([]);
  });

  it('is that path where it is only written in another way', async ({ one: { engine, raw, admin } }) => {
    for (const path of ['/v1/%63hat/completions', '/v1//chat//completions', '/v1/chat/completions/']) {
      const text = await raw(request('POST', `${path}?x=1`, JSON_TYPE, chatBody()));
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(text).toMatch(/x-maitred-reason: direct/i);
      expect(engine.last.url).toMatch(/\/completions\?x=1$/);
    }
    expect((await admin('/metrics')).text).toContain('maitred_calls_accepted_total 3');
  });

  it('goes on without its extra slashes where it is passed through', async () => {
    const { engine, ask } = await lone(responses);
    await ask('/v1//audio/speech/?x=//', { headers: JSON_TYPE, body: '{}' });
    await ask('/tokenize/', { headers: JSON_TYPE, body: '{}' });
    expect(engine.seen.map((seen) => seen.url)).toEqual(['/v1/audio/speech?x=//', '/tokenize']);
  });
});

describe('a path that changes an engine', () => {
  const CHANGING = ['load_lora_adapter', 'unload_lora_adapter', 'sleep', 'wake_up', 'reset_prefix_cache', 'files'];

  it.each(CHANGING)('is not for clients: /v1/%s', async (name) => {
    const { engine, raw, ask } = await lone();
    for (const path of [
      `/v1/${name}`,
      `/v1/audio/..%2f${name}`,
      `/v1/audio%2f..%2f${name}`,
      `/v1/audio;/%2e%2e/${name}`,
    ]) {
      const got = await raw(request('POST', path, JSON_TYPE, '{}'));
      expect(got.slice(9, 12)).toMatch(/400|403/);
    }
    expect(refusal(await ask(`/v1/${name}`, { headers: JSON_TYPE, body: '{}' }))).toEqual([403, 'path_not_allowed']);
    expect(engine.seen).toEqual([]);
  });

  it('is for clients where the operator permits it', async () => {
    const { ask } = await lone(undefined, { passthrough: { paths: ['/v1/files/*', '/v1/a.b'] } });
    for (const [path, status] of [
      ['/v1/files/1', 200],
      ['/v1/files/1%20/2', 200],
      ['/v1/a.b', 200],
      ['/v1/aXb', 403],
      ['/v1/files', 403],
      ['/v1/filesystem/1', 403],
    ] as const)
      expect([path, (await ask(path)).status]).toEqual([path, status]);
  });
});

describe('a response of another tenant', () => {
  it('is not gone on from, nor one that nobody made here', async () => {
    const { engine, ask } = await lone(responses, { auth });
    const post = (key: string, more: object = {}) =>
      ask('/v1/responses', {
        headers: { ...JSON_TYPE, ...bearer(key) },
        body: JSON.stringify({ model: 'm', input: 'x', ...more }),
      });
    await post('a');
    engine.answer = (response, seen, incoming) => {
      response.setHeader('x-first', String(seen.body));
      return responses(response, seen, incoming);
    };
    expect(refusal(await post('b', { previous_response_id: 'resp_1' }))).toEqual([404, 'unknown_response']);
    expect(engine.seen).toHaveLength(1);
    expect((await post('a', { previous_response_id: 'resp_1' })).status).toBe(200);
    expect(refusal(await post('b', { previous_response_id: 'resp_unheard_of' }))).toEqual([404, 'unknown_response']);
  });

  it('cannot exist where all keys are of one tenant: the engine judges an unknown id', async () => {
    const { ask } = await lone(responses, { auth: { keys: auth.keys.slice(0, 1) } });
    const body = JSON.stringify({ model: 'm', input: 'x', previous_response_id: 'resp_unheard_of' });
    const got = await ask('/v1/responses', { headers: { ...JSON_TYPE, ...bearer('a') }, body });
    expect(got.status).toBe(200);
  });
});

describe('a program whose id looks like a path', () => {
  it.each(['..', '../../x', 'a//b', 'x;y', '%2e%2e', 'a\\b', 'x/end', 'a b', '<run>', '50%'])(
    'is named in the answer so that it is found, shown and ended: %s',
    async (id) => {
      const { chat, raw, ask } = await lone();
      const got = await chat({}, { 'x-maitred-program': id });
      expect(decodeURIComponent(String(got.headers['x-maitred-program']))).toBe(id);
      // Like `encodeURIComponent`, but also encodes dots, which HTTP clients would resolve.
      const encoded = encodeURIComponent(id).replaceAll('.', '%2E');
      for (const name of [encoded, encodeURIComponent(`default:${id}`)]) {
        const shown = await raw(request('GET', `/programs/${name}`));
        expect(shown).toMatch(/^HTTP\/1\.1 200 /);
        expect(shown).toContain(`"id":${JSON.stringify(id)}`);
      }
      expect((await ask(`/programs/${encodeURIComponent(`default:${id}`)}`)).status).toBe(200);
      expect(await raw(request('POST', `/programs/${encoded}/end`))).toMatch(/^HTTP\/1\.1 200 /);
      expect((await ask('/programs')).json()).toMatchObject({ total: 0 });
    },
  );
});

describe('a WebSocket', () => {
  it.each(['/v1/realtime', '/v1/responses'])('is refused at %s, and h2c is not taken for one', async (path) => {
    const { engine, raw } = await lone(undefined, ANY_PATH);
    const upgrade = { connection: 'Upgrade, close', upgrade: 'websocket', 'sec-websocket-key': 'eA==' };
    const text = await raw(request('GET', path, upgrade));
    expect([text.slice(9, 12), errorCode(text)]).toEqual(['400', 'upgrade_unsupported']);
    expect(engine.seen).toEqual([]);
    const other = request('GET', '/v1/files', { connection: 'Upgrade, close', upgrade: 'h2c' });
    expect(await raw(other)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
