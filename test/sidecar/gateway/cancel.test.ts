import { describe, expect, it } from 'vitest';
import {
  ONE_AT_A_TIME,
  rawChat,
  DONE_EVENT,
  STOP_EVENT,
  TEXT_EVENT,
  USAGE_EVENT,
  JSON_TYPE,
  begun,
  eitherWay,
  hang,
  chatBody,
  completion,
  gate,
  heard,
  until,
  type Answer,
  lone,
  named,
  type World,
} from './world.js';

const cancelled = ({ counted }: World) => counted('calls_ended_total{outcome="cancelled"}');

const inFlight = async ({ engines }: World) => (await engines())[0]?.in_flight;

describe('a client that leaves', () => {
  it.each([true, false])('while its call is queued frees its place (stream: %s)', async (streamed) => {
    const all = await lone(hang, ONE_AT_A_TIME);
    const { engine, leavingChat, waiting } = all;
    const running = leavingChat();
    await until(() => engine.seen.length === 1);
    const queued = leavingChat({ stream: streamed });
    await until(async () => (await waiting()) === 1);
    queued.leave();
    expect(await queued.call).toBe('left');
    await until(async () => (await waiting()) === 0);
    expect(await cancelled(all)).toBe(1);
    expect(await all.read('/totals')).toMatchObject({ calls: 0, failed: [], left: { waiting: 1, running: 0 } });
    expect(engine.seen).toHaveLength(1);
    running.leave();
  });

  it.each<[string, Answer, boolean]>([
    ['before an answer', hang, false],
    ['before the first event', hang, true],
    ['while a whole answer is half there', (response) => void response.write('{"choices":['), false],
  ])('%s frees its engine', async (_, answer, stream) => {
    const all = await lone(answer, ONE_AT_A_TIME);
    const { engine, calls, leavingChat, chat } = all;
    const { call, leave } = leavingChat({ stream });
    await until(() => engine.seen.length === 1);
    leave();
    expect(await call).toBe('left');
    await engine.last.abandoned;
    expect(await inFlight(all)).toBe(0);
    expect(await cancelled(all)).toBe(1);
    expect(calls()[0]).toMatchObject({ outcome: 'cancelled', status: 499, code: 'client_gone' });
    engine.answer = completion();
    expect((await chat()).status).toBe(200);
  });

  it('while no engine is up has met a failure of the service', async () => {
    const { engine, leavingChat, waiting, read, counted } = await lone(hang, {
      health: { intervalMs: 20, failuresMax: 1 },
    });
    await engine.close();
    await expect.poll(() => read('/engines')).toMatchObject({ engines: [{ state: 'down' }] });
    const queued = leavingChat({}, named('p'));
    await until(async () => (await waiting()) === 1);
    queued.leave();
    await until(async () => (await counted('calls_ended_total{outcome="engine_error"}')) === 1);
    expect(await read('/totals')).toMatchObject({
      calls: 1,
      failed: [{ code: 'no_engine', fault: 'service' }],
      left: { waiting: 0 },
    });
    expect(await read('/programs/p/explain')).toMatchObject({
      text: expect.stringMatching(/: Its client left after .*, while no engine was up\. /) as string,
    });
  });

  it('in the middle of a stream frees its engine', async () => {
    const all = await lone(begun(), ONE_AT_A_TIME);
    const { body } = await all.openChat({ stream: true });
    body.on('error', () => undefined);
    await new Promise((resolve) => body.once('data', resolve));
    body.destroy();
    await all.engine.last.abandoned;
    await until(async () => (await inFlight(all)) === 0);
    expect(await cancelled(all)).toBe(1);
  });

  it('at the last event of its answer, ahead of the end, has all of it', async () => {
    const all = await lone(begun(undefined, TEXT_EVENT + STOP_EVENT + USAGE_EVENT + DONE_EVENT));
    const { body, headers } = await all.openChat({ stream: true });
    body.on('error', () => undefined);
    await heard(body, (text) => text.includes(DONE_EVENT) && body.destroy()).catch(() => undefined);
    await until(() => all.calls().length === 1);
    expect(all.calls()).toMatchObject([{ outcome: 'completed', status: 200, output_tokens: 3 }]);
    await all.engine.last.abandoned;
    all.engine.answer = completion();
    const messages = [...saying('hello').messages, { role: 'assistant', content: 'hi' }, ...saying('more').messages];
    expect((await all.chat({ messages })).headers['x-maitred-program']).toBe(headers['x-maitred-program']);
  });

  it('while its request is passed through frees its engine', async () => {
    const all = await lone(hang);
    const leaving = new AbortController();
    const init = { headers: JSON_TYPE, body: chatBody(), signal: leaving.signal };
    const request = all.ask('/v1/audio/speech', init).catch(() => 'left');
    await until(() => all.engine.seen.length === 1);
    leaving.abort();
    expect(await request).toBe('left');
    await all.engine.last.abandoned;
    expect(await cancelled(all)).toBe(0);
  });

  it('with pipelined requests cancels them all', async () => {
    const all = await lone(hang);
    const { engine, dial } = all;
    const socket = dial();
    socket.write(rawChat().repeat(3));
    await until(() => engine.seen.length === 3);
    socket.destroy();
    await Promise.all(engine.seen.map((seen) => seen.abandoned));
    await until(async () => (await cancelled(all)) === 3);
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
    const { dial, counted } = await lone(eitherWay(flood(sent), completion()));
    const socket = dial().pause();
    socket.write(rawChat(chatBody({ stream: true })));
    await until(() => sent.blocked);
    socket.write(rawChat());
    await until(async () => (await counted('calls_ended_total{outcome="completed"}')) === 1);
    socket.destroy();
    await until(async () => (await counted('calls_in_system')) === 0);
  });

  it('for too long is dropped, and its engine freed', async () => {
    const sent = { bytes: 0, blocked: false };
    const all = await lone(flood(sent), { timeouts: { idleMs: 300 } });
    const { body } = await all.openChat({ stream: true });
    body.on('error', () => undefined);
    await all.engine.last.abandoned;
    await until(async () => (await cancelled(all)) === 1);
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

const saying = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('a client that hangs up while its call waits, and asks again', () => {
  it.each<[string, Record<string, string>, string]>([
    ['whose program is named', { 'x-maitred-program': 'p' }, 'b'],
    ['whose program nobody knows', {}, 'b'],
    ['that was to be its program’s last', { 'x-maitred-program': 'p', 'x-maitred-final': 'true' }, 'b'],
    ['that says so in words of another day', { 'x-maitred-program': 'p', 'x-stainless-retry-count': '1' }, 'b, again'],
  ])('(%s) has its old place and its waiting', async (_, headers, again) => {
    const { answer, seen, release } = oneByOne();
    const { chat, leavingChat, waiting, metrics } = await lone(answer, ONE_AT_A_TIME);
    const first = chat(saying('a'));
    await until(() => seen.length === 1);
    const gone = leavingChat(saying('b'), headers);
    await until(async () => (await waiting()) === 1);
    const later = chat(saying('c'));
    await until(async () => (await waiting()) === 2);
    gone.leave();
    expect(await gone.call).toBe('left');
    await until(async () => (await waiting()) === 1);
    expect((await metrics()).get('maitred_kept_places')).toBe(1);
    const back = chat(saying(again), headers);
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
