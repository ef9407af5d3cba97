import { describe, expect } from 'vitest';
import { apiFor } from '../../../sidecar/apis/index.js';
import { refusalFor, refusalOf, secretsOf } from '../../../sidecar/calls/refusal.js';
import { DONE_EVENT, JSON_TYPE, MODEL, TEXT_EVENT, lone, stream, replies, it } from './world.js';

const eventOf = (path: string, status: number, said: object, secrets: readonly string[] = []): unknown => {
  const body = Buffer.from(JSON.stringify(said));
  const event = apiFor(path)!.errorEvent(refusalOf(status, body, { path, secrets }), 'r1');
  return JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '');
};

describe('a refusal of an engine in a stream that comments have opened', () => {
  const names = { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' };
  const tooLong = { message: 'maximum context length is 9', ...names };

  it('keeps the engine’s message, type, code and parameter', () => {
    expect(eventOf('/v1/chat/completions', 400, { error: tooLong })).toEqual({ error: tooLong });
    const failed = { response: { error: { code: 'context_length_exceeded', message: tooLong.message } } };
    expect(eventOf('/v1/responses', 400, { error: tooLong })).toMatchObject(failed);
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Later.' } };
    expect(eventOf('/v1/messages', 529, overloaded)).toEqual({ ...overloaded, request_id: 'r1' });
  });

  it.each([
    [429, 'rate_limit_error', 'overloaded', 'rate_limit_error'],
    [503, 'server_error', 'no_engine', 'overloaded_error'],
    [529, 'server_error', 'no_engine', 'overloaded_error'],
    [422, 'invalid_request_error', 'bad_request', 'invalid_request_error'],
  ])('has the names of its status if it has none: %i', (status, type, code, claude) => {
    const message = 'No.';
    const said = { error: { message } };
    expect(eventOf('/v1/chat/completions', status, said)).toEqual({ error: { message, type, code, param: null } });
    expect(eventOf('/v1/messages', status, said)).toEqual({
      type: 'error',
      request_id: 'r1',
      error: { type: claude, message },
    });
  });

  it('says its status if it has no words, and no secret if it has', () => {
    expect(eventOf('/v1/chat/completions', 400, {})).toMatchObject({
      error: { message: 'The engine answered with status 400.' },
    });
    const error = { message: 'key abcdefgh', type: 'abcdefgh', code: 'of 10.0.0.1:80' };
    expect(JSON.stringify(eventOf('/v1/chat/completions', 400, { error }, ['abcdefgh']))).not.toMatch(/abcdefgh|10\.0/);
  });
});

describe('a refusal of an engine before its first byte', () => {
  const sent = (path: string, status: number, said: string): Record<string, unknown> => {
    const [api, body] = [apiFor(path)!, Buffer.from(said)];
    const { bytes } = refusalFor(api, body, refusalOf(status, body, { path }), 'r1');
    // The engine's own bytes, if they go out as they came.
    return bytes === body ? { said } : (JSON.parse(bytes.toString()) as Record<string, unknown>);
  };
  const claude = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'r1' });
  const openai = (message: string, code: string, type = 'invalid_request_error') => ({
    error: { message, type, code, param: null },
  });

  it.each([
    ['/v1/messages', '{"type":"error","error":{"type":"invalid_request_error","message":"No."}}'],
    ['/v1/chat/completions', '{"error":{"message":"No.","type":"Bad Request","param":null,"code":400}}'],
    ['/v1/responses', '{"error":{"message":"No."}}'],
  ])('goes out as it came in the form of its API: %s', (path, said) => {
    expect(sent(path, 400, said)).toEqual({ said });
  });

  it.each([
    ['BadRequestError', "This model's maximum context length is 9 tokens. However, your request has 10 input tokens."],
    ['BadRequest', "The input (10 tokens) is longer than the model's context length (9 tokens)."],
    ['exceed_context_size_error', 'request (10 tokens) exceeds the available context size (9 tokens)'],
    ['invalid_request_error', 'Prompt is too long.'],
  ])(
    'has the name by which clients shorten their history, if it says that the prompt is too long: %s',
    (type, message) => {
      const said = JSON.stringify({ error: { message, type, param: null, code: 400 } });
      const code = 'context_length_exceeded';
      for (const path of ['/v1/chat/completions', '/v1/responses'])
        expect(sent(path, 400, said)).toEqual(openai(message, code, type));
      const words = type === 'invalid_request_error' ? message : `prompt is too long: ${message}`;
      expect(sent('/v1/messages', 400, said)).toEqual(claude('invalid_request_error', words));
    },
  );

  // Of vLLM, SGLang, FastAPI, text-generation-inference, nginx, and nothing at all.
  it.each<[number, string, string, (string | undefined)?, string?]>([
    [400, '{"error":{"message":"No.","type":"Bad Request","param":null,"code":400}}', 'No.', undefined, 'Bad Request'],
    [400, '{"type":"error","error":{"type":"BadRequestError","message":"No."}}', 'No.', undefined, 'Bad Request'],
    [
      400,
      '{"object":"error","message":"No.","type":"BadRequest","param":null,"code":400}',
      'No.',
      undefined,
      'BadRequest',
    ],
    [422, '{"detail":[{"loc":["body","n"],"msg":"too small"}]}', ': body.n: too small'],
    [422, '{"detail":["No.",{"msg":"So."},null]}', ': No.; So.'],
    [422, '{"detail":[{"loc":["a",{"toString":1}],"msg":{"toString":1}}]}', ': a'],
    [400, '{"detail":{"message":"No."}}', 'No.'],
    [400, '{"detail":"No."}', ': No.'],
    [422, '{"error":"No.","error_type":"validation"}', ': No.'],
    [413, '<html><head><title>413 Too Large</title></head>nginx/1.2</html>', ': 413 Too Large', 'body_too_large'],
    [400, 'No.', ': No.'],
    [400, '', '.'],
    [400, '{"error":{"mess', '.'],
  ])(
    'has the form of its API, and the engine’s words: %i %s',
    (status, said, words, code = 'bad_request', type?: string) => {
      const message = /^[:.]/.test(words) ? `The engine answered with status ${status}${words}` : words;
      expect(sent('/v1/messages', status, said)).toEqual(
        claude(status === 413 ? 'request_too_large' : 'invalid_request_error', message),
      );
      if (type !== 'Bad Request') expect(sent('/v1/completions', status, said)).toEqual(openai(message, code, type));
    },
  );

  it.each([
    [401, 'authentication_error', 'unauthorized'],
    [403, 'permission_error', 'forbidden'],
    [429, 'rate_limit_error', 'overloaded'],
  ])('has the type of its status: %i', (status, type, code) => {
    const message = `The engine answered with status ${status}: No.`;
    expect(sent('/v1/messages/count_tokens', status, 'No.')).toEqual(claude(type, message));
    expect(sent('/v1/embeddings', status, 'No.')).toEqual(openai(message, code, type));
  });

  it('names the path that the engine lacks', () => {
    const said = '{"detail":"Not Found"}';
    expect(sent('/v1/messages', 404, said)).toEqual(claude('not_found_error', 'The engine has no path /v1/messages.'));
    expect(sent('/v1/responses', 404, said)).toEqual(openai('The engine has no path /v1/responses.', 'unknown_path'));
  });
});

describe('an error of an engine in the form of another API', () => {
  const BODIES = {
    '/v1/messages': { max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
    '/v1/responses': { input: 'hi' },
    '/v1/completions': { prompt: 'hi' },
  };
  const askAs = (all: Pick<Awaited<ReturnType<typeof lone>>, 'ask'>, path: keyof typeof BODIES, more = {}) =>
    all.ask(path, { headers: JSON_TYPE, body: JSON.stringify({ model: MODEL, ...BODIES[path], ...more }) });

  it('has the form of the client’s API, and the ids by which its clients name a request', async () => {
    const headers = { 'x-theirs': 'kept', etag: '"a"', digest: 'x', 'content-language': 'en' };
    const page = { 'content-type': 'text/html', ...headers };
    const all = await lone(replies(400, { error: { message: 'No.' } }, page));
    const got = await askAs(all, '/v1/messages');
    const id = got.headers['request-id'];
    expect([got.status, got.headers['content-type'], got.headers['x-theirs']]).toEqual([
      400,
      'application/json; charset=utf-8',
      'kept',
    ]);
    for (const name of ['etag', 'digest', 'content-language']) expect(got.headers[name]).toBeUndefined();
    expect(got.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'No.' },
      request_id: id,
    });
    expect(id).toBe(got.headers['x-request-id']);
    expect((await askAs(all, '/v1/completions')).json()).toEqual({ error: { message: 'No.' } });
  });

  const boom = '{"error":{"message":"boom"}}';
  it.each([
    ['/v1/messages', 'message_start', boom, /\nevent: error\ndata: \{"type":"error".*boom.*\n\n$/],
    ['/v1/responses', 'response.created', boom, /\nevent: response.failed\ndata: .*boom.*\n\n$/],
    [
      '/v1/completions',
      undefined,
      '{"error":"boom","error_type":"generation"}',
      /\ndata: \{"error":\{"message":.*boom.*\n\n$/,
    ],
  ] as const)('ends a stream as its API does: %s', async (path, type, error, end) => {
    const first = type === undefined ? TEXT_EVENT : `event: ${type}\ndata: {"type":"${type}"}\n\n`;
    const { calls, ...all } = await lone(stream([first, `data: ${error}\n\n`, DONE_EVENT]));
    const { text } = await askAs(all, path, { stream: true });
    expect(text).toMatch(end);
    expect(text).not.toContain(error);
    await expect.poll(() => calls()[0]?.['outcome']).toBe('engine_error');
  });
});

it('answers Anthropic’s clients in their form, and with their id, where no engine was asked', async ({
  one: { ask, raw },
}) => {
  const got = await ask('/v1/messages', { headers: JSON_TYPE, body: '{}' });
  expect(got.json()).toMatchObject({ type: 'error', request_id: got.headers['request-id'] });
  const head =
    'POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n';
  expect(await raw(head, '1\r\n{\r\n', 'no length\r\n')).toContain('"type":"error"');
});

it('keeps an error from a stream that its API’s end completed', async () => {
  const parts = ['data: {"type":"message_stop"}\n\n', 'data: {"error":"late"}\n\n'];
  const { calls, ask } = await lone(stream(parts));
  const body = JSON.stringify({
    model: MODEL,
    max_tokens: 5,
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
  });
  expect((await ask('/v1/messages', { headers: JSON_TYPE, body })).text).toBe(parts[0]);
  await expect.poll(() => calls()[0]?.['outcome']).toBe('completed');
});

it('hides a client’s key from 8 characters on: shorter ones are parts of words', () => {
  const engine = { config: { apiKey: 'none' }, url: new URL('http://gpu:8000') };
  const secrets = (authorization: string, key: string) =>
    secretsOf(engine as never, { authorization, 'x-api-key': key });
  expect(secrets('Bearer none', 'x')).toEqual(['gpu:8000', 'gpu']);
  expect(secrets('Bearer 1234567', '12345678')).toEqual(['gpu:8000', 'gpu', '12345678']);
  engine.config.apiKey = 'of-the-engine';
  expect(secrets('', '')).toContain('of-the-engine');
});
