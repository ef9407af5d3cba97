import { describe, expect, it } from 'vitest';
import type { EngineHandle } from '../../sim/index.js';
import { call, dataOf, engine, eventsOf, rawPost } from './client.js';

/** At model speed an answer of this length takes a minute: whatever ends sooner was aborted. */
const LONG = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5000, ignore_eos: true };
const PATH = '/v1/chat/completions';

function settled(sim: EngineHandle, expected: object): Promise<void> {
  return expect.poll(() => sim.stats(), { interval: 5 }).toMatchObject(expected);
}

/** Sends without reading, and returns how to leave. */
function open(sim: EngineHandle, body: object): () => void {
  const controller = new AbortController();
  const gone = fetch(sim.url + PATH, { method: 'POST', body: JSON.stringify(body), signal: controller.signal });
  gone.then((response) => response.text()).catch(() => undefined);
  return () => controller.abort();
}

describe('a client that leaves', () => {
  it('frees its slot at once, in the middle of a stream', async () => {
    const sim = await engine({ speed: 1 });
    await rawPost(sim, PATH, { ...LONG, stream: true }, {}, (_, leave) => leave());
    await settled(sim, { running: 0, aborted: 1, kvBlocksUsed: 0 });
    expect(sim.stats().records[0]).toMatchObject({ disconnected: true, sequences: [{ state: 'aborted' }] });
  });

  it('frees its slot without a stream, and while it waits', async () => {
    const sim = await engine({ speed: 1, slots: 1 });
    const leave = open(sim, LONG);
    await settled(sim, { running: 1 });
    const leaveWaiting = open(sim, { ...LONG, stream: true });
    await settled(sim, { waiting: 1 });
    leaveWaiting();
    await settled(sim, { running: 1, waiting: 0, aborted: 1 });
    leave();
    await settled(sim, { running: 0, aborted: 2, kvBlocksUsed: 0 });
  });
});

describe('a client that reads slowly', () => {
  it('gets every token all the same', async () => {
    const sim = await engine({ speed: 1e6 });
    const response = await fetch(sim.url + PATH, {
      method: 'POST',
      body: JSON.stringify({ ...LONG, max_tokens: 100_000, stream: true }),
    });
    await settled(sim, { running: 0, finished: 1 });
    const chunks = dataOf(eventsOf(await response.text())) as unknown as {
      choices: { delta: { content?: string } }[];
    }[];
    const texts = chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '');
    expect(texts.join('')).toHaveLength(400_000);
  });
});

describe('close', () => {
  it('ends running calls and open connections', async () => {
    const sim = await engine({ speed: 1 });
    const outcome = rawPost(sim, PATH, { ...LONG, stream: true });
    await settled(sim, { running: 1 });
    await sim.close();
    expect((await outcome).error).toBe('ECONNRESET');
    await expect(call(sim, 'GET', '/health')).rejects.toThrow();
  });
});
