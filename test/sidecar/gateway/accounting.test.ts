import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { Scheduler } from '../../../src/index.js';
import { Dice } from '../../support/dice.js';
import {
  recording,
  DONE_EVENT,
  TEXT_EVENT,
  chat,
  completion,
  configOf,
  fakeEngine,
  metrics,
  queueOf,
  until,
  world,
  type Answer,
} from './world.js';

const OUTCOMES = ['completed', 'client_error', 'engine_error', 'cancelled', 'timed_out', 'drained'];

/** Misbehaves as the request's `x-fault` says. */
const moody: Answer = async (response, seen, request) => {
  const streams = seen.body.includes('"stream":true');
  const fault = String(seen.headers['x-fault']);
  if (fault === 'hang') return;
  if (fault === 'reset') {
    response.destroy();
  } else if (/^\d+$/.test(fault)) {
    response.writeHead(Number(fault), { 'retry-after': '0.01' });
    response.end('{}');
  } else if (fault === 'half') {
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
    response.write(streams ? TEXT_EVENT : '{"cho', () => response.destroy());
  } else if (fault === 'garbage') {
    response.end('\x00\x01');
  } else {
    await pause(fault === 'slow' ? 20 : 0);
    await good(response, seen, request);
  }
};

const good: Answer = async (response, seen, request) => {
  const streams = seen.body.includes('"stream":true');
  if (!streams) return completion()(response, seen, request);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(TEXT_EVENT);
  await pause(5);
  response.end(DONE_EVENT);
};

const FAULTS = ['', '', '', '', 'slow', 'reset', '400', '429', '500', '503', 'hang', 'half', 'garbage'];

describe('a random mixture of faults, cancels and floods', () => {
  it('loses nothing, answers nothing twice, adds up, and replays to the same commands', async () => {
    const engines = [await fakeEngine(moody), await fakeEngine(moody), await fakeEngine(moody)];
    const settings: Record<string, unknown> = {
      ...queueOf(400, {
        admission: { window: 4 },
        timeouts: { firstByteMs: 200, commentMs: 100, idleMs: 300, drainMs: 100 },
      }),
      limits: {
        queuedMax: 40,
        queuedPerTenantMax: 40,
        programsMax: 100,
        attemptsMax: 2,
        conversationsMax: 1000,
        responsesMax: 1000,
      },
      health: { failuresMax: 1000 },
    };
    const { steps, recorder } = recording();
    const { gateway, url, adminUrl, logs } = await world(engines, settings, { recorder });
    const dice = new Dice(2026);
    const statuses: Promise<number | 'left'>[] = [];
    for (let i = 0; i < 400; i++) {
      const leaving = new AbortController();
      const headers = {
        'x-fault': dice.pick(FAULTS),
        'x-maitred-program': `p${dice.int(0, 19)}`,
        'x-request-id': `r${i}`,
      };
      statuses.push(
        chat(url, { stream: dice.chance(0.5) }, headers, leaving.signal).then(
          ({ status }) => status,
          () => 'left' as const,
        ),
      );
      if (dice.chance(0.2)) setTimeout(() => leaving.abort(), dice.int(0, 100));
      if (dice.chance(0.3)) await pause(dice.int(0, 10));
    }
    const settled = await Promise.all(statuses);
    await until(async () => (await metrics(adminUrl)).get('maitred_calls_in_system') === 0);
    const counted = await metrics(adminUrl);
    const of = (name: string) => counted.get(`maitred_${name}`) ?? 0;
    const ended = OUTCOMES.reduce((sum, outcome) => sum + of(`calls_ended_total{outcome="${outcome}"}`), 0);
    expect(of('calls_accepted_total')).toBe(ended);
    const rejected = [...counted].filter(([name]) => name.startsWith('maitred_calls_rejected_total'));
    const refused = rejected.reduce((sum, [, value]) => sum + value, 0);
    // A client may leave before its request was read; such a call counts as neither.
    expect(ended + refused).toBeLessThanOrEqual(400);
    expect(ended + refused).toBeGreaterThanOrEqual(400 - settled.filter((status) => status === 'left').length);
    for (const outcome of ['completed', 'client_error', 'engine_error', 'cancelled', 'timed_out'])
      expect([outcome, of(`calls_ended_total{outcome="${outcome}"}`) > 0]).toEqual([outcome, true]);
    expect(of('calls_ended_total{outcome="client_error"}')).toBeLessThanOrEqual(
      settled.filter((status) => status === 400 || status === 429 || status === 503).length + 40,
    );
    for (const engine of engines) expect(of(`engine_in_flight_calls{engine="${engine.id}"}`)).toBe(0);
    const lines = logs.filter((line) => line['msg'] === 'call').map((line) => line['request_id']);
    expect(lines).toHaveLength(ended);
    expect(new Set(lines).size).toBe(ended);
    await gateway.close();
    replay(steps, settings);
  });

  it('tells the scheduler which tools answers call, each once, or else which one the client told', async () => {
    const called = ['f', 'g', 'f', ''].map((name) => ({ type: 'function', function: { name, arguments: '{}' } }));
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: called } };
    const answers = [completion({ choices: [choice] }), completion(), completion()];
    const engine = await fakeEngine((...asked) => answers.shift()?.(...asked));
    const { steps, recorder } = recording();
    const { url } = await world([engine], {}, { recorder });
    await chat(url, { vllm_xargs: { this_func_call: 'h' } });
    await chat(url);
    await chat(url, { vllm_xargs: { this_func_call: 'h' } });
    const told = steps.flatMap(({ event }) => (event.type === 'callFinished' ? [event.tools] : []));
    expect(told).toEqual([['f', 'g'], undefined, ['h']]);
  });

  it('counts what a drain cut off', async () => {
    const engine = await fakeEngine(() => undefined);
    const { gateway, url, logs } = await world([engine], { timeouts: { drainMs: 50 }, admission: { window: 1 } });
    const calls = [chat(url), chat(url), chat(url)];
    await until(async () => (await metrics(url)).get('maitred_calls_in_system') === 3);
    await gateway.drain();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([503, 503, 503]);
    const drained = logs.filter((line) => line['outcome'] === 'drained');
    // No waiting call is given the slot of one that was cut off before it.
    expect(drained.map((line) => line['engine'] !== undefined).sort()).toEqual([false, false, true]);
  });
});

/** Checks that the same events through a fresh scheduler give the same commands. */
function replay(steps: ReturnType<typeof recording>['steps'], settings: Record<string, unknown>): void {
  const config = configOf([], settings);
  const scheduler = new Scheduler(config, makeBalancer(config.balancer));
  for (const { event, now, commands } of steps) assert.deepEqual(scheduler.step(event, now), commands);
  expect(steps.length).toBeGreaterThan(500);
}

describe('the log', () => {
  it('has a line a call, whose level is that of the line, and which says where the call was queued', async () => {
    const { url, logs } = await world([await fakeEngine()]);
    await chat(url);
    await until(() => logs.some((line) => line['msg'] === 'call'));
    expect(logs.find((line) => line['msg'] === 'call')).toMatchObject({ level: 30, queue_level: 0 });
  });
});

describe('metrics', () => {
  it('tell of programs, levels, tokens and engines, under bounded labels', async () => {
    const engine = await fakeEngine(
      completion({ usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } } }),
    );
    const { url } = await world([engine]);
    for (let i = 0; i < 3; i++) await chat(url, {}, { 'x-maitred-program': `secret-${i}`, 'x-maitred-final': 'true' });
    await until(async () => (await metrics(url)).get('maitred_programs_ended_total{cause="ended"}') === 3);
    const counted = await metrics(url);
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
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    await chat(url);
    const series = async () => [...(await metrics(url)).keys()].filter((name) => name.includes(engine.id));
    expect(await series()).not.toEqual([]);
    await fetch(`${url}/engines/${encodeURIComponent(engine.id)}`, { method: 'DELETE' });
    expect(await series()).toEqual([]);
  });
});
