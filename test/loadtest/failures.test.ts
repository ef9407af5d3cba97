import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GatewayWords } from '../../loadtest/gateway-words.js';
import { LoadError, runLoad, type LoadOptions } from '../../loadtest/index.js';
import { isPrivate, privateLookup } from '../../loadtest/target.js';
import { freePort } from '../../processes/process.js';
import { engine } from '../sim/client.js';
import { call, DONE, front, load, OPTIONS, PART, program, singles } from '../support/load.js';
import { serve } from '../support/serve.js';

const EVENTS = { 'content-type': 'text/event-stream' };

describe('a call that goes wrong', () => {
  it.each([
    ['status=408', 'http_408'],
    ['status=429', 'http_429'],
    ['status=499', 'http_499'],
    ['status=503', 'http_503'],
    ['status=400', 'http_4xx'],
    ['status=500', 'http_5xx'],
    ['reset', 'unreachable'],
    ['reset-after=3', 'broken_stream'],
    ['half', 'broken_stream'],
    ['html', 'wrong_content'],
    ['garbage', 'wrong_content'],
    ['hang', 'timeout'],
    ['hang-after=3', 'timeout'],
  ])('by %s is counted as %s', async (fault, outcome) => {
    const { calls, programs, summary } = await faulty(fault, {});
    expect(summary.targets[0]!.goneMs).toBeUndefined();
    expect(calls.map((each) => each.outcome)).toEqual([outcome]);
    expect(calls[0]?.detail).not.toBe('');
    expect(programs[0]).toMatchObject({ outcome, callsCancelled: 0 });
  });

  it.each([
    ['reset-after=20', 'broken_stream'],
    ['short-length', 'broken_stream'],
    ['half', 'wrong_content'],
    ['html', 'wrong_content'],
    ['hang', 'timeout'],
  ])('by %s is counted as %s without a stream', async (fault, outcome) => {
    const { calls } = await faulty(fault, { stream: false });
    expect(calls.map((each) => each.outcome)).toEqual([outcome]);
  });

  it.each([
    ['chat', 'data: [DONE]\n\n'],
    ['completions', 'data: [DONE]\n\n'],
    ['chat', 'data: {"choices":[{"delta":{"content":"a"}}\n\n'],
    ['chat', 'data: {"type":"message_start","message":{}}\n\n'],
    ['completions', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
  ] as const)('in a stream of %s is wrong content: %s', async (api, text) => {
    const { calls } = await answered(api, EVENTS, text);
    expect(calls.map((each) => each.outcome)).toEqual(['wrong_content']);
  });

  it.each([
    ['chat', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
    ['responses', 'data: {"type":"response.output_text.delta","delta":"a"}\n\ndata: [DONE]\n\n'],
    ['messages', 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n'],
    ['chat', ': still here\n\n'],
    ['chat', 'data: {"error":{"message":"no","code":500}}\n\n'],
    ['chat', 'event: error\ndata: {"message":"no"}\n\n'],
    ['messages', 'data: {"type":"error","error":{"message":"no"}}\n\n'],
    ['responses', 'data: {"type":"response.failed","response":{}}\n\n'],
  ] as const)('in a stream of %s that ends before its end is broken: %s', async (api, text) => {
    const { calls } = await answered(api, EVENTS, text);
    expect(calls.map((each) => each.outcome)).toEqual(['broken_stream']);
  });

  it('cancels what waits for it, and lets the rest of its program go on', async () => {
    const [bad, good] = [call({ after: [0], thread: 'bad' }), call({ after: [0], thread: 'good', gapMs: 50 })];
    const later = [[1], [3], [2, 4]].map((after) => call({ after }));
    const tree = program('tree', call(), bad, good, ...later, call({ after: [2], thread: 'good' }));
    const { calls, programs } = await faulty('status=503', { identity: 'maitred' }, [tree], 1);
    const outcomes = Object.fromEntries(calls.map((each) => [each.call, each.outcome]));
    expect(outcomes).toEqual({ 0: 'completed', 1: 'http_503', 2: 'completed', 6: 'completed' });
    expect(programs[0]).toMatchObject({ outcome: 'http_503', calls: 4, callsCancelled: 3 });
  });
});

describe('what a target says of a call', () => {
  const odd = ['Infinity', '1e308', '-5000', '86400000', 'soon'];
  it.each(odd)('is not believed where it cannot be: queued for %s ms', async (ms) => {
    const { calls, programs } = await answered('chat', { ...EVENTS, 'x-maitred-queue-ms': ms }, PART + DONE);
    expect(calls).toMatchObject([{ outcome: 'completed', queueMs: NaN, dispatchedMs: NaN }]);
    expect(programs).toMatchObject([{ outcome: 'completed', queueMs: NaN }]);
  });

  it('counts where it opens the stream of a call that is still queued, and says the rest in comments', async () => {
    const dispatched = 'dispatched engine=e1 level=3 reason=in_order';
    const comments = ['queued waited_ms=2 waiting=1', dispatched, dispatched];
    const headers = { 'x-maitred-queue-ms': '1', 'x-maitred-reason': 'queued' };
    const text = comments.map((comment) => `: ${comment}\n\n`).join('') + PART + DONE;
    const { calls } = await answered('chat', { ...EVENTS, ...headers }, text);
    expect(calls).toMatchObject([{ outcome: 'completed', engine: 'e1' }]);
    expect(calls[0]?.queueMs).not.toBe(2);
    const words = new GatewayWords();
    words.takeHeaders(headers);
    for (const [at, comment] of comments.entries()) words.takeComment(comment, 60 * at);
    expect(words.queueMs).toBe(60);
  });

  it.each([1e308, -1, '7', null])('is not believed where it cannot be: %s tokens', async (count) => {
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: count, completion_tokens: count } });
    const { calls } = await answered('chat', EVENTS, `${PART}data: ${usage}\n\n${DONE}`);
    expect(calls).toMatchObject([{ outcome: 'completed', outputTokens: 1 }]);
    expect(calls[0]?.promptTokens).toBeLessThan(1000);
  });

  it('is not waited for without end where the observer breaks', async () => {
    const handle = await engine();
    const fails = () => {
      throw new RangeError('full');
    };
    const observer = { callEnded: fails, programEnded: fails };
    const options = { ...OPTIONS, targets: [handle.url], programs: () => singles(1) };
    await expect(runLoad(options, observer, new AbortController().signal)).rejects.toThrow(RangeError);
  });
});

/** Plays with one faulty call, that of this place in the run. Faults wait until all probes are done. */
async function faulty(fault: string, options: Partial<LoadOptions>, all = singles(1), place = 0) {
  const handle = await engine({ speed: 50 });
  return load({
    targets: [handle.url],
    timeoutMs: fault.startsWith('hang') ? 700 : 30_000,
    programs: () => {
      handle.plan(...Array<string>(place).fill('slow=0'), fault);
      return all;
    },
    ...options,
  });
}

/** Plays one call, whose answer is this one; probes are answered as they should be. */
async function answered(api: LoadOptions['api'], headers: Record<string, string>, answer: string) {
  const url = await front(await engine(), (_path, _body, { 'x-maitred-program': program }) =>
    program === undefined ? undefined : (response) => response.writeHead(200, headers).end(answer),
  );
  return load({ targets: [url], programs: () => singles(1), api, identity: 'maitred' });
}

async function refusal(options: Partial<LoadOptions>): Promise<string> {
  const error: unknown = await load({ programs: () => singles(1), ...options }).catch((reason: unknown) => reason);
  if (!(error instanceof LoadError)) throw error instanceof Error ? error : new Error('no error');
  expect(error.message).not.toContain('\n');
  return error.message;
}

describe('a target that is not fit for a run', () => {
  const listening = async (headers: object, text: string) =>
    serve((_, response) => response.writeHead(200, { ...headers }).end(text));

  it.each<[why: string, string | (() => string | Promise<string>)]>([
    ['is no URL', 'nonsense'],
    ['is no URL', 'ftp://127.0.0.1'],
    ['holds credentials', 'http://user:secret@127.0.0.1:1'],
    ['has more than a path', 'http://127.0.0.1:1/?a=b'],
    ['is not on this machine', 'http://8.8.8.8'],
    ['is not on this machine', 'http://[2001:4860:4860::8888]'],
    ['cannot be reached: connection refused', async () => `http://127.0.0.1:${await freePort()}`],
    ['cannot be reached: host not ', 'http://no-such-host.invalid'],
    ['no safe connection: no TLS there: is it http://?', async () => (await engine()).url.replace('http', 'https')],
    ['answers HTML', () => listening({ 'content-type': 'text/html' }, '<!doctype html>Hello')],
    ['lists no model', () => listening({}, '{"object":"list","data":[]}')],
  ])('%s: %s', async (why, target) => {
    expect(await refusal({ targets: [typeof target === 'string' ? target : await target()] })).toContain(why);
  });

  it('does not speak HTTP', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await refusal({ targets: [`http://127.0.0.1:${port}`] })).toContain('does not speak HTTP');
    server.close();
  });

  it('has no such model', async () => {
    const { url } = await engine();
    expect(await refusal({ targets: [url], model: 'no-such-model' })).toContain('has no model no-such-model');
  });

  it('wants another key', async () => {
    const { url } = await engine({ apiKey: 'right' });
    expect(await refusal({ targets: [url] })).toContain('refuses the key (status 401)');
    expect(await refusal({ targets: [url], apiKey: 'wrong' })).toContain('refuses the key (status 401)');
    const { calls } = await load({ targets: [url], apiKey: 'right', programs: () => singles(1) });
    expect(calls.map(({ outcome }) => outcome)).toEqual(['completed']);
  });

  it.each([
    ['half', 30_000],
    ['hang', 300],
    ['status=503', 30_000],
  ])('breaks its first call by %s', async (fault, timeoutMs) => {
    const { url } = await engine({ faults: [fault] });
    expect(await refusal({ targets: [url], timeoutMs, ignoreEos: false })).toContain('does not answer a first call');
  });
});

describe('private addresses', () => {
  it('are connected to as they were found, whatever the name comes to mean', async () => {
    const lookup = await privateLookup(new URL('http://localhost'));
    const found = await new Promise((resolve) =>
      lookup('renamed.invalid', { all: false }, (_, address) => resolve(address)),
    );
    expect(['127.0.0.1', '::1']).toContain(found);
  });

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.1.1',
    '::1',
    'fd00::1',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '0.0.0.0',
  ])('%s is one', (address) => expect(isPrivate(address)).toBe(true));
  it.each([
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '192.169.0.1',
    '11.0.0.1',
    '2001:db8::1',
    '::ffff:8.8.8.8',
    'fec0::1',
    'localhost',
    '',
  ])('%s is none', (address) => expect(isPrivate(address)).toBe(false));
});
