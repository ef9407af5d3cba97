import { beforeEach, describe, expect, it } from 'vitest';
import { JSON_TYPE, metrics, open, until } from '../../sidecar/gateway/world.js';
import { NEEDS, PATHS, VLLM, bodyOf, gateway, idle, post, running, waitingInEngine, type Path } from './vllm.js';

/** Time after a client leaves within which the engine must have its slot back. */
const FREED_MS = 1000;

/** Longer than any test; the responses and messages APIs accept `ignore_eos` too. */
const LONG = { max_tokens: 4000, ignore_eos: true, min_tokens: 4000 };
const LONG_OF: Record<Path, object> = {
  '/v1/chat/completions': LONG,
  '/v1/completions': LONG,
  '/v1/responses': { max_output_tokens: 4000, ignore_eos: true },
  '/v1/messages': LONG,
};

/** One call, which its client leaves with `leave()`; `begun` resolves after the first byte. */
async function call(url: string, path: Path, stream: boolean, more: object = {}) {
  const client = new AbortController();
  const body = await bodyOf(path, { ...LONG_OF[path], ...more, stream });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = open(`${url}${path}`, { headers: JSON_TYPE, body, signal: client.signal })
    .then(async (response) => {
      for await (const chunk of response.body as AsyncIterable<Buffer>) if (chunk.length > 0) begin();
    })
    .catch(() => undefined);
  return { begun, ended, leave: () => client.abort() };
}

describe.skipIf(VLLM === '')(`a client that leaves, in front of vLLM${NEEDS}`, () => {
  beforeEach(idle);

  describe.each(PATHS)('%s', (path) => {
    it.each([true, false])('frees the slot of a running call (stream: %s)', async (stream) => {
      const { url, adminUrl, logs } = await gateway();
      const { begun, ended, leave } = await call(url, path, stream);
      if (stream) await begun;
      await until(async () => (await running()) === 1, 10_000);
      leave();
      await until(async () => (await running()) === 0, FREED_MS);
      await ended;
      await until(() => logs.some((line) => line['outcome'] === 'cancelled'));
      expect((await metrics(adminUrl)).get('maitred_calls_ended_total{outcome="cancelled"}')).toBe(1);
    });
  });

  it.each([true, false])('takes a call out of the engine’s own queue (stream: %s)', async (stream) => {
    // A policy without a window sends all calls to the engine immediately.
    const { url } = await gateway({ policy: { name: 'pass-through' } });
    const calls: Awaited<ReturnType<typeof call>>[] = [];
    while ((await waitingInEngine()) === 0) {
      calls.push(await call(url, '/v1/completions', stream));
      expect(calls.length).toBeLessThan(300);
      await until(async () => (await running()) + (await waitingInEngine()) === calls.length, 10_000);
    }
    const last = calls.pop();
    last?.leave();
    await until(async () => (await waitingInEngine()) === 0, FREED_MS);
    expect(await running()).toBe(calls.length);
    for (const { leave } of calls) leave();
    await until(async () => (await running()) === 0, FREED_MS);
    await Promise.all([...calls, ...(last ? [last] : [])].map(({ ended }) => ended));
  });

  it('leaves what the call had computed in the engine’s prefix cache', async () => {
    const { url } = await gateway();
    const prompt = `${Date.now()} ${'one two three four '.repeat(100)}`;
    const { begun, leave } = await call(url, '/v1/completions', true, { prompt });
    await begun;
    leave();
    await until(async () => (await running()) === 0, FREED_MS);
    const again = await post(url, '/v1/completions', { prompt, max_tokens: 1 });
    const { usage } = again.json() as {
      usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } | null };
    };
    expect(usage.prompt_tokens_details?.cached_tokens ?? 0).toBeGreaterThan(usage.prompt_tokens / 2);
  });
});
