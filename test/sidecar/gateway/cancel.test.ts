import { describe, expect, it } from 'vitest';
import {
  ONE_AT_A_TIME,
  rawChat,
  DONE_EVENT,
  JSON_TYPE,
  TEXT_EVENT,
  ask,
  chat,
  chatBody,
  completion,
  gate,
  metrics,
  until,
  type Answer,
  lone,
} from './world.js';

const hang: Answer = () => undefined;

async function cancelled(adminUrl: string): Promise<number | undefined> {
  return (await metrics(adminUrl)).get('maitred_calls_ended_total{outcome="cancelled"}');
}

async function inFlight(adminUrl: string): Promise<unknown> {
  const { engines } = (await ask(`${adminUrl}/engines`)).json() as { engines: { in_flight: number }[] };
  return engines[0]?.in_flight;
}

describe('a client that leaves', () => {
  it.each([true, false])('while its call is queued frees its place (stream: %s)', async (streamed) => {
    const { engine, adminUrl, chat, leavingChat, waiting } = await lone(hang, ONE_AT_A_TIME);
    const running = chat({}, {}, AbortSignal.timeout(5000)).catch(() => undefined);
    await until(() => engine.seen.length === 1);
    const { call: queued, leave } = leavingChat({ stream: streamed });
    await until(async () => (await waiting()) === 1);
    leave();
    expect(await queued).toBe('left');
    await until(async () => (await waiting()) === 0);
    expect(await cancelled(adminUrl)).toBe(1);
    expect(engine.seen).toHaveLength(1);
    void running;
  });

  it.each([true, false])('before the first byte frees its engine (stream: %s)', async (streamed) => {
    const { engine, adminUrl, calls, leavingChat, chat } = await lone(hang, ONE_AT_A_TIME);
    const { call, leave } = leavingChat({ stream: streamed });
    await until(() => engine.seen.length === 1);
    leave();
    expect(await call).toBe('left');
    await engine.last.abandoned;
    expect(await inFlight(adminUrl)).toBe(0);
    expect(calls()[0]).toMatchObject({
      outcome: 'cancelled',
      status: 499,
      code: 'client_gone',
    });
    engine.answer = completion();
    expect((await chat()).status).toBe(200);
  });

  it('in the middle of a stream frees its engine', async () => {
    const { engine, adminUrl, openChat } = await lone((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(TEXT_EVENT);
    }, ONE_AT_A_TIME);
    const { body } = await openChat({ stream: true });
    body.on('error', () => undefined);
    await new Promise((resolve) => body.once('data', resolve));
    body.destroy();
    await engine.last.abandoned;
    await until(async () => (await inFlight(adminUrl)) === 0);
    expect(await cancelled(adminUrl)).toBe(1);
  });

  it.each<[string, Answer, string]>([
    ['while a whole answer is half there', (response) => void response.write('{"choices":['), 'chat/completions'],
    ['while its request is passed through', hang, 'audio/speech'],
  ])('%s frees its engine', async (_, answer, path) => {
    const { engine, adminUrl, ask } = await lone(answer, ONE_AT_A_TIME);
    const leaving = new AbortController();
    const { signal } = leaving;
    const request = ask(`/v1/${path}`, { headers: JSON_TYPE, body: chatBody(), signal }).catch(() => 'left');
    await until(() => engine.seen.length === 1);
    leaving.abort();
    expect(await request).toBe('left');
    await engine.last.abandoned;
    expect(await cancelled(adminUrl)).toBe(path === 'audio/speech' ? 0 : 1);
  });

  it('with pipelined requests cancels them all', async () => {
    const { engine, adminUrl, dial } = await lone(hang);
    const socket = dial();
    socket.write(rawChat().repeat(3));
    await until(() => engine.seen.length === 3);
    socket.destroy();
    await Promise.all(engine.seen.map((seen) => seen.abandoned));
    await until(async () => (await cancelled(adminUrl)) === 3);
  });

  it('by closing its side only has left, too', async () => {
    const { engine, dial } = await lone(hang);
    dial().end(rawChat());
    await until(() => engine.seen.length === 1);
    await engine.last.abandoned;
  });

  it('is told to engines that are slow to see it, by the id of the very attempt', async () => {
    const { engine, leavingChat } = await lone(hang, { engine: { kind: 'sglang' } });
    const { call, leave } = leavingChat();
    await until(() => engine.seen.length === 1);
    const { rid } = JSON.parse(engine.last.body.toString()) as { rid: string };
    leave();
    await call;
    await until(() => engine.aborts.length === 1);
    expect(engine.aborts).toEqual([rid]);
  });
});

describe('a client that does not read', () => {
  /** Far more bytes than the sockets in between can hold. */
  const FLOOD = 64 * 1024 * 1024;
  const event = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(65_536)}"}}]}\n\n`;

  function flood(sent: { bytes: number; blocked: boolean }): Answer {
    return async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.setMaxListeners(0);
      while (sent.bytes < FLOOD && !response.destroyed) {
        sent.bytes += event.length;
        if (response.write(event)) continue;
        sent.blocked = true;
        await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
      response.end(DONE_EVENT);
    };
  }

  it('holds the engine back, and gets every byte when it reads on', async () => {
    const sent = { bytes: 0, blocked: false };
    const { openChat } = await lone(flood(sent));
    const { body } = await openChat({ stream: true });
    await until(() => sent.blocked);
    let before = -1;
    await until(async () => {
      const held = before === sent.bytes;
      before = sent.bytes;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return held;
    });
    // The buffers of the kernel and Node hold some megabytes; the rest stays at the engine.
    expect(sent.bytes).toBeLessThan(FLOOD / 2);
    let bytes = 0;
    for await (const chunk of body) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(sent.bytes + DONE_EVENT.length);
    expect(sent.bytes).toBeGreaterThanOrEqual(FLOOD);
  });

  it('leaves the answers that it asked for in one go alone', async () => {
    const sent = { bytes: 0, blocked: false };
    const flooding = flood(sent);
    const { dial, metrics } = await lone((response, seen, request) => {
      if (seen.body.includes('"stream":true')) return flooding(response, seen, request);
      return completion()(response, seen, request);
    });
    const socket = dial().pause();
    socket.write(rawChat(chatBody({ stream: true })));
    await until(() => sent.blocked);
    socket.write(rawChat());
    const completed = 'maitred_calls_ended_total{outcome="completed"}';
    await until(async () => (await metrics()).get(completed) === 1);
    socket.destroy();
    await until(async () => (await metrics()).get('maitred_calls_in_system') === 0);
  });

  it('for too long is dropped, and its engine freed', async () => {
    const sent = { bytes: 0, blocked: false };
    const { engine, adminUrl, openChat } = await lone(flood(sent), { timeouts: { idleMs: 300 } });
    const { body } = await openChat({ stream: true });
    body.on('error', () => undefined);
    await engine.last.abandoned;
    await until(async () => (await cancelled(adminUrl)) === 1);
    expect(sent.bytes).toBeLessThan(FLOOD);
  });
});

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
    const { url, waiting, metrics } = await lone(answer, ONE_AT_A_TIME);
    const first = say(url, 'a');
    await until(() => seen.length === 1);
    const leaving = new AbortController();
    const gone = say(url, 'b', leaving.signal, headers).catch(() => 'gone');
    await until(async () => (await waiting()) === 1);
    const later = say(url, 'c');
    await until(async () => (await waiting()) === 2);
    leaving.abort();
    expect(await gone).toBe('gone');
    await until(async () => (await waiting()) === 1);
    expect((await metrics()).get('maitred_kept_places')).toBe(1);
    const back = say(url, again, undefined, headers);
    await until(async () => (await waiting()) === 2);
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
    const counted = await metrics();
    expect([counted.get('maitred_retries_joined_total'), counted.get('maitred_kept_places')]).toEqual([1, 0]);
  });
});
