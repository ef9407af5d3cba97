import { describe, expect, it } from 'vitest';
import { run } from '../../support/command-line.js';
import { examine } from '../../cli/examine.js';
import { completion, eitherWay, fakeEngine, lone, named, stream, until, world } from './world.js';

const STREAMED = { stream: true };
const answers = eitherWay(stream(), completion());

describe('the time of an engine to the first token', () => {
  it('is that of streamed calls for which somebody waits', async () => {
    const { engine, chat, read, metrics, ask } = await lone(answers);
    const row = async () => read(`/engines/${engine.id}`);
    expect(await row()).toMatchObject({ first_token_seconds: { count: 0, p50: null, p99: null } });
    for (const body of [{}, STREAMED, { ...STREAMED, service_tier: 'flex' }]) await chat(body);
    const time = expect.any(Number) as number;
    expect(await row()).toMatchObject({ first_token_seconds: { count: 1, p50: time, p99: time } });
    const series = `maitred_engine_first_token_seconds_count{engine="${engine.id}"}`;
    expect((await metrics()).get(series)).toBe(1);
    await ask(`/engines/${engine.id}?force`, { method: 'DELETE' });
    await until(async () => !(await metrics()).has(series));
  });

  it('shows which engine is slow, and the doctor notes it', async () => {
    const [slow, fast] = [await fakeEngine(answers), await fakeEngine(answers)];
    const { url, chat, engines, ask } = await world([slow, fast], { admission: { window: 30 } });
    const drained = async (verb: string, id: string) => ask(`/engines/${id}/${verb}?force`, { method: 'POST' });
    const calls = (kind: string) => Array.from({ length: 20 }, (_, at) => chat(STREAMED, named(`${kind} ${at}`)));
    await drained('drain', slow.id);
    const since = performance.now();
    await Promise.all(calls('fast'));
    const slowestMs = performance.now() - since;
    await drained('undrain', slow.id);
    await drained('drain', fast.id);
    slow.answer = async (...asked) => {
      const sinceMs = performance.now();
      await until(() => performance.now() - sinceMs > 4 * slowestMs);
      await answers(...asked);
    };
    const notes = async () => (await examine(['--url', url])).about('to the first token');
    expect(await notes()).toEqual([]);
    await Promise.all(calls('slow'));
    await drained('undrain', fast.id);
    await until(async () => (await engines()).every(({ state }) => state === 'up'));
    const told = { level: 'note', subject: `gateway’s engine ${slow.id}` };
    expect(await notes()).toMatchObject([{ ...told, advice: expect.stringContaining(`drain ${slow.id}`) as string }]);
    const [, ofSlow] = (await run(['engines', '--url', url])).out.split('\n');
    expect(ofSlow).toMatch(/ up +0 of 30 +[\d.]+ (ms|s), p99 [\d.]+ (ms|s) +openai/);
  });
});
