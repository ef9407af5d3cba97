import { describe, expect, it, vi } from 'vitest';
import { says } from './misbehaving.js';
import { ExpectedWaits } from '../../../sidecar/watch/expected-waits.js';
import { startEngine } from '../../../sim/index.js';
import {
  ONE_AT_A_TIME,
  STREAM,
  cleanUp,
  completion,
  errorCode,
  named,
  queueOf,
  refusal,
  stream,
  until,
  world,
  type Answer,
  held,
  heard,
} from './world.js';

/** A gateway whose first call holds the only slot until it is told to answer; `then` answers all others. */
async function behindFirst(then: Answer, overrides: object = {}) {
  const { engine, open, ...all } = await held({ ...ONE_AT_A_TIME, ...overrides });
  const first = all.chat();
  await until(() => engine.seen.length === 1);
  engine.answer = then;
  return { ...all, first, open };
}

describe('a call that waits', () => {
  it('goes when its turn comes, and tells how long it waited', async () => {
    const { first, open, chat, waiting } = await behindFirst(completion());
    const second = chat();
    await until(async () => (await waiting()) === 1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    open();
    expect((await first).headers['x-maitred-reason']).toBe('direct');
    const { headers } = await second;
    expect(headers['x-maitred-reason']).toBe('queued');
    expect(Number(headers['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(50);
  });

  it('gets comments when it streams, then its answer in the same stream', async () => {
    const { first, open, openChat, metrics } = await behindFirst(stream(), { timeouts: { commentMs: 100 } });
    const { statusCode, headers, body } = await openChat({ stream: true }, named('p'));
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-maitred-program': 'p',
      'x-maitred-reason': 'queued',
    });
    expect(headers).not.toHaveProperty('x-maitred-engine');
    const text = await heard(body, (text) => text.split('\n\n').length > 2 && open());
    expect(text).toMatch(
      /^(: queued waited_ms=\d+ waiting=1 level=0 cause=window engine=\S+ needs=1 free=0 limit=1 ahead=0\n\n){2,}: dispatched engine=\S+ level=0 reason=queued\n\n/,
    );
    expect(text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
    expect((await first).status).toBe(200);
    expect((await metrics()).get('maitred_queue_comments_total')).toBeGreaterThanOrEqual(3);
  });

  it('is told how long such calls wait: in its headers and comments, in /programs/{id} and by why', async () => {
    const of = vi.spyOn(ExpectedWaits.prototype, 'of').mockReturnValue({ p50Ms: 12_000.4, p90Ms: 65_000 });
    const { first, open, openChat, read } = await behindFirst(stream(), { timeouts: { commentMs: 100 } });
    const { body, headers } = await openChat({ stream: true }, named('p'));
    expect(headers).toMatchObject({ 'x-maitred-expected-ms': '12000', 'x-maitred-expected-p90-ms': '65000' });
    const { active } = await read<{ active: object[] }>('/programs/p');
    expect(active).toMatchObject([{ waiting_for: { expected_seconds: 12, expected_p90_seconds: 65 } }]);
    const { text } = await read<{ text: string }>('/programs/p/explain');
    expect(text).toContain(
      '\nRoughly, as others may pass it: of the last waits like it, half ended within 12 s more, nine of ten within 1 min 5 s.\n',
    );
    open();
    expect(await body.text()).toMatch(/^: queued .* ahead=0 expected_ms=12000 expected_p90_ms=65000\n\n/);
    await first;
    of.mockRestore();
  });

  it('for longer than allowed gets 408 and when to ask again; one that streams waits on', async () => {
    const { first, open, chat } = await behindFirst(
      stream(),
      queueOf(150, { ...ONE_AT_A_TIME, timeouts: { commentMs: 100 } }),
    );
    const left = vi.spyOn(ExpectedWaits.prototype, 'left');
    const patient = chat({ stream: true });
    const got = await chat();
    // What was learnt of its wait is forgotten, or it would stay for ever.
    expect(left).toHaveBeenCalledOnce();
    left.mockRestore();
    expect(refusal(got)).toEqual([408, 'queue_timeout']);
    expect(got.headers).toMatchObject({ 'x-maitred-reason': 'queue_timeout', 'retry-after': '1' });
    expect(Number(got.headers['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(140);
    open();
    await first;
    expect((await patient).text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
  });

  it('and is then refused by its engine hears of it in its stream', async () => {
    const { logs, openChat, first, open } = await behindFirst(says(422, { message: 'too long for me' }), {
      timeouts: { commentMs: 100 },
    });
    const { body } = await openChat({ stream: true });
    const text = await heard(body, open);
    await first;
    expect(errorCode(text)).toBe('bad_request');
    expect(text).toContain('too long for me');
    await expect.poll(() => logs.some(({ code }) => code === 'engine_422')).toBe(true);
  });
});

describe('a queue that is full', () => {
  it('refuses with 429 and Retry-After, and loses nothing that it took', async () => {
    const { open, chat, metrics } = await held({
      ...ONE_AT_A_TIME,
      limits: { queuedMax: 4, queuedPerTenantMax: 4, programsMax: 100 },
    });
    const calls = Array.from({ length: 8 }, () => chat());
    const settled: number[] = [];
    for (const call of calls) void call.then((got) => settled.push(got.status));
    await until(() => settled.length === 3);
    open();
    const answers = await Promise.all(calls);
    expect(answers.map((got) => got.status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const refused = answers.find((got) => got.status === 429);
    expect(errorCode(refused?.text ?? '')).toBe('queue_full');
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    const counted = await metrics();
    expect(counted.get('maitred_calls_rejected_total{code="queue_full"}')).toBe(3);
    expect(counted.get('maitred_calls_accepted_total')).toBe(5);
  });
});

describe('a prompt longer than any engine takes', () => {
  it('hears of it at once, however busy they are', async () => {
    const engine = await startEngine({ preset: 'tiny-cpu', speed: 0.001, models: ['m'] });
    cleanUp(() => engine.close());
    const engines = [{ url: engine.url, kind: 'vllm' }];
    const { chat, leavingChat, waiting } = await world([engine], { engines, ...ONE_AT_A_TIME });
    const busy = Array.from({ length: 8 }, () => leavingChat({ max_tokens: 4000, ignore_eos: true }));
    await until(async () => (await waiting()) === 7);
    const huge = 'far too long '.repeat(10_000);
    const got = await chat({ messages: [{ role: 'user', content: huge }] });
    const told = { 'x-maitred-reason': 'direct', 'x-maitred-queue-ms': '0' };
    expect(got).toMatchObject({ status: 400, headers: told });
    expect(got.text).toContain('maximum context length');
    expect(await waiting()).toBe(7);
    for (const { leave } of busy) leave();
    await Promise.all(busy.map(({ call }) => call));
  });
});
