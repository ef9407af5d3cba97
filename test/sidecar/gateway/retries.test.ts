import { describe, expect, it } from 'vitest';
import { startEngine } from '../../../sim/index.js';
import {
  JSON_TYPE,
  ask,
  chat,
  chatBody,
  cleanUp,
  completion,
  fakeEngine,
  gate,
  metrics,
  until,
  waiting,
  world,
  type Answer,
} from './world.js';

const ONE_AT_A_TIME = { admission: { window: 1 } };

/** Answers requests in order of arrival, each one upon `release`. */
function oneByOne(): { readonly answer: Answer; readonly seen: string[]; readonly release: () => void } {
  const seen: string[] = [];
  const held: (() => void)[] = [];
  return {
    seen,
    answer: async (response, request, ...rest) => {
      seen.push((JSON.parse(String(request.body)) as { messages: [{ content: string }] }).messages[0].content);
      const { opened, open } = gate();
      held.push(open);
      await opened;
      return completion()(response, request, ...rest);
    },
    release: () => held.shift()?.(),
  };
}

const say = (url: string, content: string, signal?: AbortSignal, headers = {}) =>
  chat(url, { messages: [{ role: 'user', content }] }, headers, signal);

describe('a client that hangs up while its call waits, and asks again', () => {
  it.each([
    ['whose program is named', { 'x-maitred-program': 'p' }, 'b'],
    ['whose program nobody knows', {}, 'b'],
    ['that says so in words of another day', { 'x-maitred-program': 'p', 'x-stainless-retry-count': '1' }, 'b, again'],
  ])('(%s) has its old place and its waiting', async (_, headers, again) => {
    const { answer, seen, release } = oneByOne();
    const engine = await fakeEngine(answer);
    const { url, adminUrl } = await world([engine], ONE_AT_A_TIME);
    const first = say(url, 'a');
    await until(() => seen.length === 1);
    const leaving = new AbortController();
    const gone = say(url, 'b', leaving.signal, headers).catch(() => 'gone');
    await until(async () => (await waiting(adminUrl)) === 1);
    const later = say(url, 'c');
    await until(async () => (await waiting(adminUrl)) === 2);
    leaving.abort();
    expect(await gone).toBe('gone');
    await until(async () => (await waiting(adminUrl)) === 1);
    expect((await metrics(adminUrl)).get('maitred_kept_places')).toBe(1);
    const back = say(url, again, undefined, headers);
    await until(async () => (await waiting(adminUrl)) === 2);
    for (let answered = 0; answered < 3; answered += 1) {
      await until(() => seen.length === answered + 1);
      release();
    }
    expect(seen).toEqual(['a', again, 'c']);
    const { headers: told } = await back;
    expect(Number(told['x-maitred-inherited-ms'])).toBeGreaterThan(0);
    expect(Number(told['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(Number(told['x-maitred-inherited-ms']));
    expect((await later).headers).not.toHaveProperty('x-maitred-inherited-ms');
    await first;
    const counted = await metrics(adminUrl);
    expect([counted.get('maitred_retries_joined_total'), counted.get('maitred_kept_places')]).toEqual([1, 0]);
  });
});

describe('a prompt longer than any engine takes', () => {
  it('hears of it at once, however busy they are', async () => {
    const engine = await startEngine({ preset: 'tiny-cpu', speed: 1, models: ['m'] });
    cleanUp(() => engine.close());
    const engines = [{ url: engine.url, kind: 'vllm' }];
    const { url, adminUrl } = await world([engine], { engines, ...ONE_AT_A_TIME });
    const leaving = new AbortController();
    const busy = Array.from({ length: 8 }, () =>
      chat(url, { max_tokens: 4000, ignore_eos: true }, {}, leaving.signal).catch(() => 'gone'),
    );
    await until(async () => (await waiting(adminUrl)) === 7);
    const start = performance.now();
    const huge = 'far too long '.repeat(10_000);
    const got = await ask(`${url}/v1/chat/completions`, {
      headers: JSON_TYPE,
      body: chatBody({ messages: [{ role: 'user', content: huge }] }),
    });
    expect([got.status, got.headers['x-maitred-reason'], got.headers['x-maitred-queue-ms']]).toEqual([
      400,
      'direct',
      '0',
    ]);
    expect(got.text).toContain('maximum context length');
    expect(performance.now() - start).toBeLessThan(2000);
    expect(await waiting(adminUrl)).toBe(7);
    leaving.abort();
    await Promise.all(busy);
  }, 20_000);
});
