import { describe, expect, it } from 'vitest';
import { completion, until, lone } from './world.js';

describe('calls', () => {
  it('that a drain cuts off are counted', async () => {
    const { gateway, logs, chat, metrics } = await lone(() => undefined, {
      timeouts: { drainMs: 50 },
      admission: { window: 1 },
    });
    const calls = [chat(), chat(), chat()];
    await until(async () => (await metrics()).get('maitred_calls_in_system') === 3);
    await gateway.drain();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([503, 503, 503]);
    const drained = logs.filter((line) => line['outcome'] === 'drained');
    // No waiting call is given the slot of one that was cut off before it.
    expect(drained.map((line) => line['engine'] !== undefined).sort()).toEqual([false, false, true]);
  });
});

describe('metrics', () => {
  it('tell of programs, levels, tokens and engines, under bounded labels', async () => {
    const { engine, chat, metrics } = await lone(
      completion({ usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } } }),
    );
    for (let i = 0; i < 3; i++) await chat({}, { 'x-maitred-program': `secret-${i}`, 'x-maitred-final': 'true' });
    await until(async () => (await metrics()).get('maitred_programs_ended_total{cause="ended"}') === 3);
    const counted = await metrics();
    expect(Object.fromEntries(counted)).toMatchObject({
      maitred_calls_accepted_total: 3,
      'maitred_calls_ended_total{outcome="completed"}': 3,
      maitred_prompt_tokens_total: 30,
      maitred_prompt_tokens_cached_total: 18,
      maitred_output_tokens_total: 12,
      maitred_program_completion_seconds_count: 3,
      'maitred_queue_seconds_count{level="0"}': 3,
      maitred_service_seconds_count: 3,
      maitred_call_seconds_count: 3,
      maitred_starvation_promotions_total: 0,
      [`maitred_engine_in_flight_calls{engine="${engine.id}"}`]: 0,
      [`maitred_engine_up{engine="${engine.id}"}`]: 1,
    });
    // docs/METRICS.md, held by a test of its own, lists the labels. None has a value from a client.
    expect([...counted.keys()].join()).not.toMatch(/secret/);
  });

  it('remember nothing of engines that have gone', async () => {
    const { engine, url, chat, metrics } = await lone();
    await chat();
    const series = async () => [...(await metrics()).keys()].filter((name) => name.includes(engine.id));
    expect(await series()).not.toEqual([]);
    await fetch(`${url}/engines/${encodeURIComponent(engine.id)}`, { method: 'DELETE' });
    expect(await series()).toEqual([]);
  });
});
