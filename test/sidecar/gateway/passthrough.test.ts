import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import {
  JSON_TYPE,
  MODEL,
  chatBody,
  fakeEngine,
  gate,
  heard,
  held,
  lone,
  open,
  refusal,
  replies,
  until,
  world,
  type Answer,
  it,
} from './world.js';

/** Permits requests for paths without a meaning. */
const ANY_PATH = { passthrough: { paths: ['/v1/*'] } };

const echo: Answer = (response, seen) => {
  response.writeHead(207, { 'content-type': 'application/x-odd', 'x-engine': 'kept' });
  response.end(seen.body);
};

describe('a path that the gateway has no opinion of', () => {
  it.each([
    ['GET', '/v1/files?x=%20a&b'],
    ['DELETE', '/v1/files/1'],
    ['PATCH', '/v1/x'],
    ['OPTIONS', '/v1/x'],
    ['POST', '/tokenize'],
    ['POST', '/rerank'],
    ['POST', '/pooling'],
  ])('goes to an engine and comes back as it is: %s %s', async (method, path) => {
    const { engine, ask, metrics } = await lone(echo, ANY_PATH);
    const body = method === 'GET' || method === 'DELETE' || method === 'OPTIONS' ? undefined : randomBytes(1000);
    const headers = { 'x-mine': 'kept', 'accept-encoding': 'br' };
    const got = await ask(path, { method, headers, ...(body && { body }) });
    expect([got.status, got.bytes]).toEqual([207, body ?? Buffer.alloc(0)]);
    expect(got.headers).toMatchObject({
      'content-type': 'application/x-odd',
      'x-engine': 'kept',
      'x-maitred-reason': 'passthrough',
      'x-maitred-engine': engine.id,
    });
    expect(got.headers['x-request-id']).toBe(engine.last.headers['x-request-id']);
    expect([engine.last.method, engine.last.url]).toEqual([method, path]);
    expect(engine.last.headers).toMatchObject(headers);
    expect((await metrics()).get(`maitred_passthrough_requests_total{engine="${engine.id}"}`)).toBe(1);
    expect((await metrics()).get('maitred_calls_accepted_total')).toBe(0);
  });

  const paths = ['/v1/x', '/tokenize', '/v1/messages/count_tokens'];
  it.each(paths)('never shows declarations to an engine: %s', async (path) => {
    const { engine, post } = await lone(echo, ANY_PATH);
    const rest = '"messages":[{"role":"user","content":"a"}],"x":1e300}';
    await post(path, `{"model":"${MODEL}","maitred":{"node":"n"},${rest}`);
    expect(engine.last.body.toString()).toBe(`{"model":"${MODEL}",${rest}`);
  });

  it('keeps compression as the engine chose it', async () => {
    const zipped = gzipSync('hello');
    const headers = { 'content-encoding': 'gzip', 'content-length': zipped.length };
    const { ask } = await lone(replies(200, zipped, headers), ANY_PATH);
    const got = await ask('/v1/files');
    expect([got.headers['content-encoding'], got.bytes]).toEqual(['gzip', zipped]);
  });

  it.each([200, 404])('answers HEAD with the engine’s headers: %i', async (status) => {
    const { ask } = await lone(replies(status, '', { 'content-length': 1234 }), ANY_PATH);
    const got = await ask('/v1/files', { method: 'HEAD' });
    expect([got.status, got.headers['content-length'], got.text]).toEqual([status, '1234', '']);
  });

  it('is answered in the API’s shape where the engine has no such path', async () => {
    const { post } = await lone(replies(404, { detail: 'Not Found' }, { 'content-length': 22 }));
    expect(refusal(await post('/v1/moderations', {}))).toEqual([404, 'unknown_path']);
  });

  it('keeps an engine’s refusal as it is, but for paths whose clients know one form', async () => {
    const said = '{"detail":"No."}';
    const headers = { 'content-type': 'text/plain', 'content-length': said.length };
    const { engine, post } = await lone(replies(422, said, headers));
    expect((await post('/v1/moderations', {})).text).toBe(said);
    const got = await post('/v1/messages/count_tokens', chatBody());
    const error = { type: 'invalid_request_error', message: 'The engine answered with status 422: No.' };
    expect([got.status, got.json()]).toEqual([422, { type: 'error', error, request_id: got.headers['request-id'] }]);
    expect(got.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(got.bytes.length),
    });
    expect(engine.last.headers['accept-encoding']).toBe('identity');
  });

  it.each([
    ['is compressed all the same passes as it is', gzipSync('{"detail":"No."}'), 422, 'gzip'],
    ['is too large is another one', Buffer.alloc(2_000_000), 502, undefined],
  ])('a refusal that %s', async (_, said, status, encoding) => {
    const headers: Record<string, string> = encoding === undefined ? {} : { 'content-encoding': encoding };
    const { post } = await lone(replies(422, said, headers), { limits: { answerBytes: 1_000_000 } });
    const got = await post('/v1/messages/count_tokens', chatBody());
    expect([got.status, got.headers['content-encoding']]).toEqual([status, encoding]);
    if (encoding !== undefined) expect(got.bytes).toEqual(said);
  });

  it('keeps an engine from being drained while it is under way', async () => {
    const { engine, open, ask, admin, engines } = await held(ANY_PATH, echo);
    const answer = ask('/v1/x');
    await until(() => engine.seen.length === 1);
    await admin(`/engines/${engine.id}/drain?force`, { method: 'POST' });
    expect((await engines())[0]).toMatchObject({ state: 'draining', in_flight: 1 });
    open();
    await answer;
    await until(async () => (await engines())[0]?.state === 'drained');
  });

  it('streams its body up and its answer down, each before the other is over', async () => {
    const { opened, open: openGate } = gate();
    const { engine, url, ask } = await lone(echo, ANY_PATH);
    const big = randomBytes(5_000_000);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const got = await ask('/v1/audio/transcriptions', { headers, body: big });
    expect(got.bytes.equals(big)).toBe(true);
    engine.answer = async (response) => {
      response.write('first');
      await opened;
      response.end('second');
    };
    const { body } = await open(`${url}/v1/x`);
    expect(await heard(body, openGate)).toBe('firstsecond');
  });

  it('goes to an engine that serves the model that it names', async () => {
    const engines = { one: await fakeEngine(echo, ['one']), two: await fakeEngine(echo, ['two']) };
    const { post } = await world(Object.values(engines), ANY_PATH);
    for (const [model, { id }] of Object.entries(engines))
      expect((await post('/tokenize', { model, prompt: 'x' })).headers['x-maitred-engine']).toBe(id);
    expect(refusal(await post('/tokenize', { model: 'three' }))).toEqual([404, 'unknown_model']);
    expect((await post('/tokenize', 'not json')).text).toBe('not json');
  });

  it('goes to the least busy engine', async () => {
    const { opened, open: openGate } = gate();
    const slow: Answer = async (response) => {
      await opened;
      response.end();
    };
    const engines = [await fakeEngine(slow), await fakeEngine(slow)];
    const { ask } = await world(engines, ANY_PATH);
    const answers = Array.from({ length: 4 }, () => ask('/v1/x'));
    await until(() => engines.every((engine) => engine.seen.length === 2));
    openGate();
    await Promise.all(answers);
  });

  it('is answered by another engine when one fails before its answer; half an answer breaks the connection', async () => {
    let asked = 0;
    const flaky: Answer = (...all) => ((asked += 1) === 1 ? void all[0].destroy() : echo(...all));
    const { post } = await world([await fakeEngine(flaky), await fakeEngine(flaky)], ANY_PATH);
    expect((await post('/v1/x', '{}')).status).toBe(207);
    const half = await fakeEngine((response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const broken = await world([half], ANY_PATH);
    await expect(broken.ask('/v1/x')).rejects.toThrow();
    const none = await world([], ANY_PATH);
    expect(refusal(await none.ask('/v1/x'))).toEqual([503, 'no_engine']);
  });
});

describe('counting tokens', () => {
  it('is checked, and goes past the queues', async () => {
    const { post } = await lone(replies(200, { input_tokens: 5 }));
    const count = (body: object) => post('/v1/messages/count_tokens', body);
    const good = await count({ model: MODEL, messages: [{ role: 'user', content: 'x' }] });
    expect([good.text, good.headers['x-maitred-reason']]).toEqual(['{"input_tokens":5}', 'passthrough']);
    expect((await count({ model: MODEL, messages: 5 })).json()).toMatchObject({ type: 'error' });
    expect((await count({ model: 'other', messages: [{ role: 'user', content: 'x' }] })).status).toBe(404);
  });
});

describe('models', () => {
  it('are merged over the engines, each once, in their order', async () => {
    const { ask } = await world([await fakeEngine(echo, ['b', 'org/a']), await fakeEngine(echo, ['c', 'b'])]);
    const list = (await ask('/v1/models')).json() as { object: string; data: { id: string }[] };
    expect(list.object).toBe('list');
    expect(list.data.map(({ id }) => id)).toEqual(['b', 'org/a', 'c']);
    for (const id of ['b', 'org/a', 'org%2Fa'])
      expect((await ask(`/v1/models/${id}`)).json()).toMatchObject({ id: decodeURIComponent(id), object: 'model' });
    expect(refusal(await ask('/v1/models/none'))).toEqual([404, 'unknown_model']);
  });
});

describe('a response', () => {
  /** Creates responses, whole or streamed, and answers requests about them. */
  const maker: Answer = (response, seen, request) => {
    const id = `resp_${seen.headers['x-name'] as string}`;
    if (seen.method !== 'POST' || seen.url.endsWith('/cancel')) {
      response.end(`${seen.method} ${seen.url}`);
    } else if (seen.body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: response.created\ndata: {"type":"response.created","response":{"id":"${id}"}}\n\n`);
    } else {
      return replies(200, { id, object: 'response', status: 'completed', output: [] })(response, seen, request);
    }
  };

  it('is read, cancelled and deleted at the engine that made it', async () => {
    const engines = [await fakeEngine(maker), await fakeEngine(maker)];
    const { ask, post } = await world(engines);
    const ids = new Map<string, string>();
    for (const name of ['a', 'b', 'c', 'd']) {
      const got = await post('/v1/responses', { model: MODEL, input: 'x' }, { 'x-name': name });
      ids.set(`resp_${name}`, String(got.headers['x-maitred-engine']));
    }
    for (const [id, engine] of ids) {
      const at = `/v1/responses/${id}`;
      for (const line of [`GET ${at}`, `GET ${at}/input_items?limit=2`, `POST ${at}/cancel`, `DELETE ${at}`]) {
        const [method = '', path = ''] = line.split(' ');
        const got = await ask(path, { method });
        expect([got.text, got.headers['x-maitred-engine']]).toEqual([line, engine]);
      }
    }
    expect(refusal(await ask('/v1/responses/resp_unknown'))).toEqual([404, 'unknown_response']);
  });

  it('that is still being streamed can be cancelled', async () => {
    const { url, ask } = await lone(maker);
    const { body } = await open(`${url}/v1/responses`, {
      headers: { ...JSON_TYPE, 'x-name': 'live' },
      body: JSON.stringify({ model: MODEL, input: 'x', stream: true }),
    });
    body.on('error', () => undefined);
    await new Promise((resolve) => body.once('data', resolve));
    expect((await ask('/v1/responses/resp_live/cancel', { method: 'POST' })).status).toBe(200);
    body.destroy();
  });
});

describe('a request without a length', () => {
  it('goes through in chunks', async () => {
    const { engine, raw } = await lone(echo, ANY_PATH);
    const text = await raw(
      'POST /v1/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      '2\r\nde\r\n0\r\n\r\n',
    );
    expect(text).toMatch(/abcde/);
    expect(engine.last.body.toString()).toBe('abcde');
  });
});
