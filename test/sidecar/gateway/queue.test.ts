import { describe, expect, it } from 'vitest';
import {
  ONE_AT_A_TIME,
  STREAM,
  ask,
  bearer,
  chat,
  completion,
  errorCode,
  fakeEngine,
  gate,
  heldEngine,
  keysOf,
  metrics,
  named,
  openChat,
  queueOf,
  stream,
  until,
  waiting,
  world,
  type Answer,
} from './world.js';

/** Holds the first request until the gate opens; `then` answers all others. */
function firstBehind(opened: Promise<void>, then: Answer): Answer {
  let first = true;
  return async (...args) => {
    if (first) {
      first = false;
      await opened;
      return completion()(...args);
    }
    return then(...args);
  };
}

/** A gateway whose first call holds the only slot until it is told to answer; `then` answers all others. */
async function behindFirst(then: Answer, overrides: object = {}) {
  const { opened, open } = gate();
  const engine = await fakeEngine(firstBehind(opened, then));
  const all = await world([engine], { ...ONE_AT_A_TIME, ...overrides });
  const first = chat(all.url);
  await until(() => engine.seen.length === 1);
  return { ...all, first, open };
}

describe('a call that waits', () => {
  it('goes when its turn comes, and tells how long it waited', async () => {
    const { url, adminUrl, first, open } = await behindFirst(completion());
    const second = chat(url);
    await until(async () => (await waiting(adminUrl)) === 1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    open();
    expect((await first).headers['x-maitred-reason']).toBe('direct');
    const { headers } = await second;
    expect(headers['x-maitred-reason']).toBe('queued');
    expect(Number(headers['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(50);
  });

  it('gets comments when it streams, then its answer in the same stream', async () => {
    const { url, adminUrl, first, open } = await behindFirst(stream(), { timeouts: { commentMs: 100 } });
    const { statusCode, headers, body } = await openChat(url, { stream: true }, named('p'));
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-maitred-program': 'p',
      'x-maitred-reason': 'queued',
    });
    expect(headers).not.toHaveProperty('x-maitred-engine');
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      if (text.split('\n\n').length > 2) open();
    }
    expect(text).toMatch(
      /^(: queued waited_ms=\d+ waiting=1 level=0 cause=window engine=\S+ needs=1 free=0 limit=1 ahead=0\n\n){2,}: dispatched engine=\S+ level=0 reason=queued\n\n/,
    );
    expect(text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
    expect((await first).status).toBe(200);
    expect((await metrics(adminUrl)).get('maitred_queue_comments_total')).toBeGreaterThanOrEqual(3);
  });

  it('gets no comments when it does not stream', async () => {
    const { url, first, open } = await behindFirst(completion(), { timeouts: { commentMs: 100 } });
    const second = chat(url);
    await new Promise((resolve) => setTimeout(resolve, 250));
    open();
    await first;
    expect((await second).headers['content-type']).toBe('application/json');
  });

  it('for longer than allowed gets 408 and when to ask again; one that streams waits on', async () => {
    const { url, first, open } = await behindFirst(
      stream(),
      queueOf(150, { ...ONE_AT_A_TIME, timeouts: { commentMs: 100 } }),
    );
    const patient = chat(url, { stream: true });
    const got = await chat(url);
    expect([got.status, errorCode(got.text), got.headers['x-maitred-reason'], got.headers['retry-after']]).toEqual([
      408,
      'queue_timeout',
      'queue_timeout',
      '1',
    ]);
    expect(Number(got.headers['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(140);
    open();
    await first;
    expect((await patient).text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
  });

  it('and is then refused by its engine hears of it in its stream', async () => {
    const { opened, open } = gate();
    const refuse: Answer = (response) => {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"too long for me"}}');
    };
    const engine = await fakeEngine(firstBehind(opened, refuse));
    const { url, logs } = await world([engine], { ...ONE_AT_A_TIME, timeouts: { commentMs: 100 } });
    const first = chat(url);
    await until(() => engine.seen.length === 1);
    const { body } = await openChat(url, { stream: true });
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      open();
    }
    await first;
    expect(errorCode(text)).toBe('bad_request');
    expect(text).toContain('too long for me');
    await expect.poll(() => logs.some((line) => line['outcome'] === 'client_error')).toBe(true);
  });

  it('goes before later ones after its pause when its only engine fails it', async () => {
    const order: string[] = [];
    const { opened, open } = gate();
    let failed = false;
    const engine = await fakeEngine(async (response, seen, request) => {
      const name = String(seen.headers['x-name']);
      if (name === 'blocker') await opened;
      else if (name === 'a' && !failed) {
        failed = true;
        response.destroy();
        return;
      }
      order.push(name);
      // B runs while A pauses, and longer than the pause.
      if (name === 'b') await new Promise((resolve) => setTimeout(resolve, 500));
      await completion()(response, seen, request);
    });
    const { url, adminUrl } = await world([engine], { ...ONE_AT_A_TIME, health: { failuresMax: 100 } });
    const calls = [chat(url, {}, { 'x-name': 'blocker' })];
    for (const [i, name] of ['a', 'b', 'c'].entries()) {
      await until(async () => {
        return engine.seen.length === 1 && (await waiting(adminUrl)) === i;
      });
      calls.push(chat(url, {}, { 'x-name': name }));
    }
    await until(async () => (await waiting(adminUrl)) === 3);
    open();
    await Promise.all(calls);
    expect(order).toEqual(['blocker', 'b', 'a', 'c']);
  });
});

describe('a queue that is full', () => {
  it('refuses with 429 and Retry-After, and loses nothing that it took', async () => {
    const { engine, open } = await heldEngine();
    const { url, adminUrl } = await world([engine], {
      ...ONE_AT_A_TIME,
      limits: { queuedMax: 4, queuedPerTenantMax: 4, programsMax: 100 },
    });
    const calls = Array.from({ length: 8 }, () => chat(url));
    const settled: number[] = [];
    for (const call of calls) void call.then((got) => settled.push(got.status));
    await until(() => settled.length === 3);
    open();
    const answers = await Promise.all(calls);
    expect(answers.map((got) => got.status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const refused = answers.find((got) => got.status === 429);
    expect(errorCode(refused?.text ?? '')).toBe('queue_full');
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    const counted = await metrics(adminUrl);
    expect(counted.get('maitred_calls_rejected_total{code="queue_full"}')).toBe(3);
    expect(counted.get('maitred_calls_accepted_total')).toBe(5);
  });

  it('of one tenant with 2,000 programs does not shut out another', async () => {
    const { engine, open } = await heldEngine();
    const { url } = await world([engine], {
      ...ONE_AT_A_TIME,
      auth: { keys: keysOf('greedy', 'modest') },
      limits: { queuedMax: 1000, queuedPerTenantMax: 50, programsMax: 4000 },
    });
    const statuses: number[] = [];
    let sent = 0;
    const sender = async (): Promise<void> => {
      while (sent < 2000) {
        const headers = { ...named(`p${++sent}`), ...bearer('greedy') };
        statuses.push((await chat(url, {}, headers)).status);
      }
    };
    // 51 of them wait behind the gate, one of them already dispatched.
    const senders = Promise.all(Array.from({ length: 51 + 64 }, sender));
    await until(() => statuses.length === 2000 - 51, 50_000);
    expect(new Set(statuses)).toEqual(new Set([429]));
    const modest = chat(url, {}, bearer('modest'));
    open();
    expect((await modest).status).toBe(200);
    await senders;
    expect(statuses.slice(2000 - 51)).toEqual(Array.from({ length: 51 }, () => 200));
  });
});

describe('programs', () => {
  it('that have had little go before those that have had much', async () => {
    const order: string[] = [];
    const { opened, open } = gate();
    const engine = await fakeEngine(async (response, seen, request) => {
      const name = String(seen.headers['x-maitred-program']);
      if (name === 'blocker') await opened;
      else if (seen.body.includes('long')) await new Promise((resolve) => setTimeout(resolve, 50));
      order.push(name);
      await completion()(response, seen, request);
    });
    const { url, adminUrl } = await world([engine], { ...ONE_AT_A_TIME, policy: { firstQuantumMs: 10 } });
    await chat(url, { user: 'long' }, named('old'));
    const blocker = chat(url, {}, named('blocker'));
    await until(() => engine.seen.length === 2);
    const old = chat(url, {}, named('old'));
    await until(async () => (await waiting(adminUrl)) === 1);
    const young = chat(url, {}, named('young'));
    await until(async () => (await waiting(adminUrl)) === 2);
    open();
    const levels = [
      (await old).headers['x-maitred-level'],
      (await young).headers['x-maitred-level'],
      (await blocker).status,
    ];
    expect(order).toEqual(['old', 'blocker', 'young', 'old']);
    expect(Number(levels[0])).toBeGreaterThan(0);
    expect(levels[1]).toBe('0');
  });

  it('end when their last call says so', async () => {
    const { url, adminUrl } = await world([await fakeEngine()]);
    await chat(url, {}, { 'x-maitred-program': 'p', 'x-maitred-final': 'true' });
    await expect.poll(async () => (await ask(`${adminUrl}/programs/p`)).status).toBe(404);
    expect((await metrics(adminUrl)).get('maitred_programs_ended_total{cause="ended"}')).toBe(1);
  });
});
