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
  queueOf,
  until,
  waiting,
  world,
  type Answer,
  type Got,
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

  it('has a place of its own where it asks something else', async () => {
    const { answer, seen, release } = oneByOne();
    const { url, adminUrl } = await world([await fakeEngine(answer)], ONE_AT_A_TIME);
    const all = [say(url, 'a')];
    await until(() => seen.length === 1);
    const leaving = new AbortController();
    const gone = say(url, 'b', leaving.signal).catch(() => 'gone');
    await until(async () => (await waiting(adminUrl)) === 1);
    leaving.abort();
    await gone;
    await until(async () => (await waiting(adminUrl)) === 0);
    for (const content of ['c', 'd']) {
      all.push(say(url, content));
      await until(async () => (await waiting(adminUrl)) === all.length - 1);
    }
    for (let answered = 0; answered < 3; answered += 1) {
      await until(() => seen.length === answered + 1);
      release();
    }
    await Promise.all(all);
    expect(seen).toEqual(['a', 'c', 'd']);
    expect((await metrics(adminUrl)).get('maitred_retries_joined_total')).toBe(0);
  });
});

/**
 * Thirty agents with three calls each. Their clients hang up after this many answers to other calls, and retry at most
 * twice.
 */
const AGENTS = 30;
const CALLS = 3;
const PATIENCE = 12;
const RETRIES = 2;

it('loses none of 30 agents whose clients time out long before they are served, and retry twice', async () => {
  const { answer, seen, release } = oneByOne();
  // A single queue, so that the time of an answer does not decide the order.
  const policy = { firstQuantumMs: 3_600_000 };
  const { url, adminUrl } = await world([await fakeEngine(answer)], { ...ONE_AT_A_TIME, policy });
  let released = 0;
  let aborted = 0;
  const clients = new Map<string, { readonly leaving: AbortController; readonly since: number }>();
  const joined: Got[] = [];
  /** Opens once the gateway has noticed who hung up. Official clients wait half a second or more before a retry. */
  let noticed = gate();

  const play = async (name: string): Promise<boolean> => {
    for (let call = 0; call < CALLS; call += 1) {
      const content = `${name}, step ${call}`;
      let got: Got | undefined;
      for (let attempt = 0; got === undefined && attempt <= RETRIES; attempt += 1) {
        const leaving = new AbortController();
        clients.set(content, { leaving, since: released });
        got = await say(url, content, leaving.signal, { 'x-maitred-program': name }).catch(() => undefined);
        if (got === undefined) await noticed.opened;
      }
      clients.delete(content);
      if (got?.status !== 200) return false;
      if (got.headers['x-maitred-inherited-ms'] !== undefined) joined.push(got);
    }
    return true;
  };
  let active = AGENTS;
  const agents = Array.from({ length: AGENTS }, (_, index) => play(`agent ${index}`).finally(() => (active -= 1)));
  while (released < AGENTS * CALLS) {
    await until(() => seen.length === released + 1);
    const running = seen[released] ?? '';
    await until(async () => (await waiting(adminUrl)) === active - 1);
    const leave = [...clients].filter(([content, { since }]) => content !== running && released - since >= PATIENCE);
    for (const [, { leaving }] of leave) leaving.abort();
    aborted += leave.length;
    await until(async () => (await metrics(adminUrl)).get('maitred_kept_places') === leave.length);
    noticed.open();
    noticed = gate();
    await until(async () => (await metrics(adminUrl)).get('maitred_retries_joined_total') === aborted);
    release();
    released += 1;
    await until(() => !clients.has(running));
  }
  expect(await Promise.all(agents)).toEqual(Array.from(agents, () => true));
  expect(seen).toHaveLength(AGENTS * CALLS);
  expect(aborted).toBeGreaterThan(2 * AGENTS);
  // All but the first dozen calls of each round were retried once or twice, and each retry took over its place.
  expect(joined.length).toBeGreaterThan(AGENTS);
}, 60_000);

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

it('a queue timeout leaves its place to a retry as well', async () => {
  const { answer, seen, release } = oneByOne();
  const { url, adminUrl } = await world([await fakeEngine(answer)], queueOf(300, ONE_AT_A_TIME));
  const first = say(url, 'a');
  await until(() => seen.length === 1);
  const late = await say(url, 'b');
  expect([late.status, late.headers['retry-after']]).toEqual([408, '1']);
  const back = say(url, 'b');
  await until(async () => (await waiting(adminUrl)) === 1);
  release();
  await until(() => seen.length === 2);
  release();
  expect(Number((await back).headers['x-maitred-inherited-ms'])).toBeGreaterThanOrEqual(290);
  await first;
});
