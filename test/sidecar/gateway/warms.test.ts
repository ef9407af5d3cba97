import { describe, expect, it } from 'vitest';
import { chat as chatApi } from '../../../sidecar/apis/chat.js';
import { messages } from '../../../sidecar/apis/messages.js';
import { responses } from '../../../sidecar/apis/responses.js';
import type { Command, Event } from '../../../src/index.js';
import {
  recording,
  ask,
  chat,
  completionBody,
  fakeEngine,
  gate,
  metrics,
  named,
  post,
  until,
  world,
  type Answer,
} from './world.js';

const TOOL = { id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } };
const LONG = 1500;

/** Each answer asks for a tool; the prompts of programs whose calls say so are long, and found cached from then on. */
function engineAnswer(warm: (body: Record<string, unknown>) => Promise<void>): Answer {
  const cached = new Set<unknown>();
  return async (response, seen) => {
    const body = JSON.parse(seen.body.toString()) as Record<string, unknown>;
    const prompt = body['user'] === undefined ? 10 : LONG;
    const isWarm = body['max_completion_tokens'] === 1;
    if (isWarm) await warm(body);
    response.setHeader('content-type', 'application/json');
    const found = cached.has(body['user']) ? LONG : 0;
    if (isWarm) cached.add(body['user']);
    const message = { role: 'assistant', content: null, tool_calls: [TOOL] };
    const usage = { prompt_tokens: prompt, completion_tokens: 1, prompt_tokens_details: { cached_tokens: found } };
    response.end(
      JSON.stringify(completionBody({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })),
    );
  };
}

/**
 * A gateway that has seen thirty programs, one whose context two others have pushed out of its engine's cache, and whose
 * tool is to end in about half a second.
 */
async function away(warm: (body: Record<string, unknown>) => Promise<void>) {
  const engine = await fakeEngine(engineAnswer(warm));
  const { steps, recorder } = recording();
  const { url, adminUrl } = await world(
    [engine],
    {
      engines: [{ url: engine.url, kind: 'openai', capacityTokens: 2 * LONG }],
      policy: { prefetch: 'on', foresight: 'learnt' },
      balancer: { thresholdTokens: 1 },
    },
    { recorder },
  );
  const call = (program: string, more: object = {}) => chat(url, more, named(program));
  const end = (program: string) => post(`${url}/programs/release`, { program_id: program });
  for (let program = 0; program < 32; program += 1) {
    for (let turn = 0; turn < 4; turn += 1) await call(`p${program}`);
    await end(`p${program}`);
  }
  await call('away', { user: 'away', max_completion_tokens: 50, seed: 1e300 });
  const tool = { type: 'tool_started', tool: 'read', expectedMs: 8_000 };
  await post(`${url}/programs/away/events`, tool);
  for (const other of ['b', 'c']) await call(other, { user: other });
  for (const other of ['b', 'c']) await end(other);
  const calls = (await metrics(adminUrl)).get('maitred_calls_accepted_total');
  const log = () => steps.flatMap<Event | Command>(({ event, commands }) => [event, ...commands]);
  return { engine, log, url, adminUrl, call, calls };
}

const typed = (log: () => readonly (Event | Command)[], type: string) => log().filter((entry) => entry.type === type);

describe('a warm', () => {
  it('is the thread’s last prompt again for one token, and nobody’s call', async () => {
    const bodies: Record<string, unknown>[] = [];
    const { engine, log, adminUrl, call, calls } = await away((body) => Promise.resolve(void bodies.push(body)));
    await until(() => typed(log, 'memoryMoved').length > 0);
    expect(engine.last.body.toString()).toContain('"seed":1e+300');
    expect(bodies).toEqual([
      expect.objectContaining({ user: 'away', messages: [{ role: 'user', content: 'hello' }], stream: false }),
    ]);
    expect(bodies[0]).toMatchObject({ max_completion_tokens: 1 });
    const place = { engine: engine.id, program: 'default:away', thread: '' };
    expect(typed(log, 'warm')).toEqual([{ type: 'warm', ...place, tokens: LONG, reason: 'return' }]);
    expect(typed(log, 'memoryMoved')).toEqual([
      { type: 'memoryMoved', ...place, action: 'warm', ok: true, tokens: LONG, ms: expect.any(Number) as number },
    ]);
    expect((await metrics(adminUrl)).get('maitred_calls_accepted_total')).toBe(calls);
    await call('away', { user: 'away' });
    const after = await metrics(adminUrl);
    expect(after.get('maitred_memory_warms_total')).toBe(1);
    expect(after.get('maitred_memory_warmed_tokens_total')).toBe(LONG);
    expect(after.get('maitred_memory_useful_tokens_total')).toBe(LONG);
    expect(after.get('maitred_memory_wasted_tokens_total')).toBe(0);
    const got = await ask(`${adminUrl}/programs/away`);
    expect(got.json()['memory']).toEqual({ warms: 1, warmed_tokens: LONG, useful_tokens: LONG });
  });

  it('ends at once when its program calls, and fails without harm to its engine', async () => {
    const { opened, open } = gate();
    const { engine, log, adminUrl, call } = await away(() => opened);
    await until(() => engine.last.body.includes('"max_completion_tokens":1'));
    const warm = engine.last;
    expect((await call('away', { user: 'away' })).status).toBe(200);
    await warm.abandoned;
    open();
    expect(typed(log, 'cancelWarm')).toHaveLength(1);
    expect(typed(log, 'memoryMoved')).toMatchObject([{ ok: false, tokens: 0 }]);
    const after = await metrics(adminUrl);
    expect(after.get('maitred_memory_warms_cancelled_total')).toBe(1);
    expect(after.get(`maitred_engine_up{engine="${engine.id}"}`)).toBe(1);
  });
});

describe('a request for one token', () => {
  const keys = (...names: string[]) => new Set(names);

  it('has no field that goes only with a stream or a longer answer', () => {
    const chat = chatApi.oneToken!(keys('max_tokens', 'n', 'stream'));
    expect(chat.set).toEqual({ max_tokens: 1, n: 1, stream: false });
    expect(chat.drop).toEqual(expect.arrayContaining(['stream_options', 'min_tokens']));
    expect(chatApi.oneToken!(keys()).set).toEqual({ max_tokens: 1, stream: false });
    expect(messages.oneToken!(keys()).set).toEqual({ max_tokens: 1, stream: false });
    expect(responses.oneToken!(keys()).set).toEqual({ max_output_tokens: 1, stream: false, store: false });
  });
});
