import { PassThrough } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, vi, afterEach } from 'vitest';
import { wallMs } from '../../../sidecar/watch/wall-clock.js';
import { Watchers } from '../../../sidecar/watch/watchers.js';

/** Fakes what watchers use, and no more: loops that other files have left behind would run on this clock too. */
const takeClock = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
afterEach(() => vi.useRealTimers());

it('times of day follow a machine that slept, or whose clock was set', () => {
  takeClock();
  expect(wallMs()).toBeCloseTo(Date.now());
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(wallMs()).toBeCloseTo(Date.now());
});

describe('watchers', () => {
  const request = { method: 'GET', headers: {} } as unknown as IncomingMessage;
  /** A client that takes nothing until it is read. */
  const client = () => Object.assign(new PassThrough({ highWaterMark: 1 }), { writeHead: () => undefined });
  const settled = () => vi.advanceTimersByTimeAsync(0);

  function makeWatchers(read: () => string | Promise<string>, busyMs = 0) {
    const state = { looks: 0, failures: 0 };
    const watchers = new Watchers<string>({
      instance: 'i',
      watchersMax: () => 10,
      failed: () => (state.failures += 1),
      look: () => {
        state.looks += 1;
        return { busyMs: () => busyMs, sections: async (view) => ({ [view]: await read() }) };
      },
    });
    const add = (view: string) => {
      const stream = client();
      watchers.add(request, stream as unknown as ServerResponse, view);
      return stream;
    };
    return { watchers, state, add };
  }

  it('look at nothing while nobody watches', async () => {
    takeClock();
    const { state, add } = makeWatchers(() => '1');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.looks).toBe(0);
    const stream = add('a').resume();
    await vi.advanceTimersByTimeAsync(3000);
    expect(state.looks).toBe(4);
    stream.destroy();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.looks).toBe(4);
  });

  it('give a slow client the last state, never a queue of them, and drop it in the end', async () => {
    takeClock();
    let now = 0;
    const { add, watchers } = makeWatchers(() => String((now += 1)));
    const stream = add('a');
    await settled();
    stream.write('full');
    await vi.advanceTimersByTimeAsync(10_000);
    const first = String(stream.read());
    await settled();
    await vi.advanceTimersByTimeAsync(1000);
    const rest = first + String(stream.read());
    expect(rest.match(/^data: .*$/gm)).toHaveLength(2);
    expect(rest.match(/^data: (.*)$/gm)?.[1]).toBe(`data: ${now}`);
    stream.write('full');
    await vi.advanceTimersByTimeAsync(40_000);
    expect([stream.destroyed, watchers.size]).toEqual([true, 0]);
  });

  it('do not wait for each other', async () => {
    takeClock();
    const asked: ((json: string) => void)[] = [];
    let answersAtOnce = true;
    const { add } = makeWatchers(() => (answersAtOnce ? '1' : new Promise((resolve) => asked.push(resolve))));
    const streams = ['a', 'b'].map((view) => add(view).resume());
    await settled();
    answersAtOnce = false;
    const seen: string[] = [];
    streams.forEach((stream) => stream.on('data', (chunk: Buffer) => seen.push(String(chunk))));
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2);
    asked[1]?.('2');
    await settled();
    expect(seen.join('')).toMatch(/event: b\ndata: 2/);
  });

  it('come less often when a look takes long, stay alive meanwhile, and survive one that fails', async () => {
    takeClock();
    const slow = makeWatchers(() => '1', 400);
    const watching = slow.add('a');
    let comments = 0;
    watching.on('data', (chunk: Buffer) => (comments += String(chunk).split(':\n\n').length - 1));
    await vi.advanceTimersByTimeAsync(1000);
    const { looks } = slow.state;
    comments = 0;
    await vi.advanceTimersByTimeAsync(40_000);
    expect([slow.state.looks - looks, comments]).toEqual([2, 40]);
    slow.watchers.close();
    slow.add('a').resume();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(slow.state.looks - looks).toBe(2 + 1 + 3);
    slow.watchers.close();
    const broken = makeWatchers(() => {
      throw new Error('broken');
    });
    const stream = broken.add('a').resume();
    await vi.advanceTimersByTimeAsync(2000);
    expect([stream.destroyed, broken.state.failures]).toEqual([true, 1]);
  });
});
