import { describe, expect, it } from 'vitest';
import type { EngineOptions } from '../../../sim/index.js';
import { engine as standIn } from '../../sim/client.js';
import { recording, post, refusal, until, world } from './world.js';

/** The gateway in front of the stand-in engine, which speaks like vLLM. */

const PATIENT = {
  health: { failuresMax: 1000 },
  limits: { attemptsMax: 2 },
  timeouts: { firstByteMs: 500, idleMs: 300 },
};

const engine = (options: EngineOptions = {}) => standIn({ speed: 1000, models: ['m'], ...options });

const BODIES = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hello there' }], max_tokens: 12, ignore_eos: true },
  '/v1/completions': { prompt: 'hello there', max_tokens: 12, ignore_eos: true },
  '/v1/responses': { input: 'hello there', max_output_tokens: 12 },
  '/v1/messages': { messages: [{ role: 'user', content: 'hello there' }], max_tokens: 12 },
} as const;

type Path = keyof typeof BODIES;
const PATHS = Object.keys(BODIES) as Path[];

function call(url: string, path: Path, more: object = {}, headers: Record<string, string> = {}) {
  return post(`${url}${path}`, { model: 'm', ...BODIES[path], ...more }, headers);
}

/** The end of a complete stream. */
const ENDS: Record<Path, RegExp> = {
  '/v1/chat/completions': /data: \[DONE\]\n\n$/,
  '/v1/completions': /data: \[DONE\]\n\n$/,
  '/v1/responses': /event: response.(completed|incomplete)\ndata: .*\n\n(data: \[DONE\]\n\n)?$/,
  '/v1/messages': /event: message_stop\ndata: .*\n\n$/,
};

describe('in front of the stand-in engine', () => {
  // Only the engine that made a response holds it; calls that continued it on another engine were answered 404.
  it.each(['least-loaded', 'program-affinity', 'sticky'])(
    'a call goes on from a response where that was made, whatever %s says',
    async (name) => {
      const { url } = await world([await engine(), await engine()], { balancer: { name } });
      const begun = await Promise.all(Array.from({ length: 4 }, () => call(url, '/v1/responses')));
      const engines = begun.map((got) => got.headers['x-maitred-engine']);
      expect(new Set(engines).size).toBe(2);
      for (let turn = 0; turn < 3; turn++) {
        const ids = begun.map((got) => (JSON.parse(got.text) as { id: string }).id);
        const next = await Promise.all(ids.map((id) => call(url, '/v1/responses', { previous_response_id: id })));
        expect(next.map((got) => [got.status, got.headers['x-maitred-engine']])).toEqual(engines.map((e) => [200, e]));
        begun.splice(0, 4, ...next);
      }
    },
  );

  it('calls leave out an engine that is stuck, until it is well again', async () => {
    const [stuck, well] = [await engine(), await engine()];
    const health = { intervalMs: 20, stuckMs: 100, backoffMs: 20, backoffMsMax: 20 };
    const engines = [stuck, well].map((each) => ({ url: each.url, kind: 'vllm' }));
    const overrides = { engines, health, balancer: { name: 'least-loaded' } };
    const { url, metrics, engines: states } = await world([], overrides);
    const set = (isStuck: boolean) => post(`${stuck.url}/sim/faults`, { stuck: isStuck });
    await until(async () => (await states()).every(({ state }) => state === 'up'));
    await set(true);
    const held = Promise.all([1, 2].map(() => call(url, '/v1/completions')));
    await until(async () => (await states()).some(({ state }) => state === 'down'));
    expect((await states()).find(({ state }) => state === 'down')?.down_reason).toContain('stuck');
    expect((await metrics()).get(`maitred_engine_stuck{engine="${new URL(stuck.url).host}"}`)).toBe(1);
    for (let turn = 0; turn < 3; turn += 1) {
      const { status, headers } = await call(url, '/v1/completions');
      expect([status, headers['x-maitred-engine']]).toEqual([200, new URL(well.url).host]);
    }
    await set(false);
    expect((await held).map(({ status }) => status)).toEqual([200, 200]);
    await until(async () => (await states()).every(({ state }) => state === 'up'));
  });

  it('a call that goes on from a response has that for a prompt, and teaches nothing of how long a token is', async () => {
    const { steps, recorder } = recording();
    const { url } = await world([await engine()], {}, { recorder });
    const input = 'hello there '.repeat(500);
    const first = await call(url, '/v1/responses', { input });
    type Answer = { readonly id: string; readonly usage: Record<'input_tokens' | 'total_tokens', number> };
    const { id, usage } = JSON.parse(first.text) as Answer;
    await call(url, '/v1/responses', { previous_response_id: id });
    await call(url, '/v1/responses', { input });
    const prompts = steps.flatMap(({ event }) => (event.type === 'callArrived' ? [event.promptTokens] : []));
    const [, continued = NaN, again = NaN] = prompts;
    expect(continued - usage.total_tokens).toBeGreaterThan(0);
    expect(continued - usage.total_tokens).toBeLessThan(20);
    expect(again / usage.input_tokens).toBeCloseTo(1, 0);
  });

  it('a call that goes on from a response of an engine which is gone is refused', async () => {
    const [gone, stays] = [await engine(), await engine()];
    const { url, adminUrl } = await world([gone, stays], { balancer: { name: 'least-loaded' } });
    const made = await call(url, '/v1/responses');
    const { id } = JSON.parse(made.text) as { id: string };
    await fetch(`${adminUrl}/engines/${String(made.headers['x-maitred-engine'])}`, { method: 'DELETE' });
    expect(refusal(await call(url, '/v1/responses', { previous_response_id: id }))).toEqual([404, 'unknown_response']);
  });

  it.each(PATHS)('%s is served, whole and streamed, and its tokens counted', async (path) => {
    const { url, calls } = await world([await engine()]);
    const whole = await call(url, path);
    expect([whole.status, whole.headers['x-maitred-reason']]).toEqual([200, 'direct']);
    expect(whole.text).toContain('usage');
    const streamed = await call(url, path, { stream: true });
    expect(streamed.text).toMatch(ENDS[path]);
    await until(() => calls().length === 2);
    for (const line of calls()) {
      expect(line).toMatchObject({ outcome: 'completed', status: 200, model: 'm' });
      expect(line['prompt_tokens']).toBeGreaterThan(0);
      expect(line['output_tokens']).toBeGreaterThan(0);
    }
  });

  it.each([['gzip'], ['no-usage'], ['slow=50']])('an answer with %s comes through', async (fault) => {
    const { url } = await world([await engine()], PATIENT);
    for (const path of PATHS) {
      expect((await call(url, path, {}, { 'x-sim-fault': fault })).json()).toBeTruthy();
      expect((await call(url, path, { stream: true }, { 'x-sim-fault': fault })).text).toMatch(ENDS[path]);
    }
  });
});
