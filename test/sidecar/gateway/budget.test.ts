import { describe, expect, it } from 'vitest';
import { checkBudget, type Spender } from '../../../sidecar/calls/budget.js';
import { configSchema } from '../../../sidecar/config/index.js';
import type { TenantId } from '../../../src/index.js';
import { bearer, chat, completion, errorCode, fakeEngine, keysOf, named, world } from './world.js';

/** 100 tokens of prompt and 20 of answer a call. */
const USED = { usage: { prompt_tokens: 100, completion_tokens: 20 } };
const budget = (text: string, program = 'p') => ({ ...named(program), 'x-maitred-budget': text });

describe('the budget of a program', () => {
  it('ends with an error that says what was used of what, and only for that program', async () => {
    const { url } = await world([await fakeEngine(completion(USED))], { budget: { tokens: 200 } });
    for (let call = 0; call < 2; call += 1) expect((await chat(url, {}, named('p'))).status).toBe(200);
    const over = await chat(url, {}, named('p'));
    expect([over.status, errorCode(over.text)]).toEqual([403, 'budget_exceeded']);
    expect(over.text).toContain('240 of 200 tokens');
    expect((await chat(url, {}, named('q'))).status).toBe(200);
  });

  it('is lowered by a header, never raised', async () => {
    const { url } = await world([await fakeEngine(completion(USED))], { budget: { calls: 2 } });
    const status = async (headers: Record<string, string>) => (await chat(url, {}, headers)).status;
    expect(await status(budget('calls=1'))).toBe(200);
    expect(await status(budget('calls=1'))).toBe(403);
    expect(await status(budget('tokens=120, engine-seconds=1000'))).toBe(403);
    expect(await status(budget('calls=1000, tokens=121'))).toBe(200);
    expect(await status(budget('calls=1000'))).toBe(403);
  });

  it('is that of its tenant', async () => {
    const { url } = await world([await fakeEngine(completion(USED))], {
      auth: { keys: keysOf('small', 'free') },
      budget: { calls: 1, tenants: { free: { calls: null } } },
    });
    const statuses = async (tenant: string) => {
      const first = await chat(url, {}, { ...bearer(tenant), ...named('p') });
      const second = await chat(url, {}, { ...bearer(tenant), ...named('p') });
      return [first.status, second.status];
    };
    expect(await statuses('small')).toEqual([200, 403]);
    expect(await statuses('free')).toEqual([200, 200]);
  });

  it('tells each answer what was left when its call came', async () => {
    const { url } = await world([await fakeEngine(completion(USED))], { budget: { tokens: 400 } });
    const left = async (headers: Record<string, string>) =>
      (await chat(url, {}, headers)).headers['x-maitred-budget-left'];
    expect(await left(budget('calls=9'))).toBe('tokens=400, calls=9');
    expect(await left(named('p'))).toBe('tokens=280');
    const free = await world([await fakeEngine()]);
    expect((await chat(free.url, {}, named('p'))).headers['x-maitred-budget-left']).toBeUndefined();
  });

  it('stops an agent that is told to call the same tool again and again', async () => {
    const asks = (path: string) => ({ choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [{ id: `call_${Math.random()}`, type: 'function', function: { name: 'read', arguments: `{"path":"${path}"}` } }] } }] }); // prettier-ignore
    let path = 'a';
    const engine = await fakeEngine((response, seen, request) => completion(asks(path))(response, seen, request));
    const { url } = await world([engine], { budget: { repeats: 3 } });
    const status = async () => (await chat(url, {}, named('p'))).status;
    expect([await status(), await status()]).toEqual([200, 200]);
    path = 'b';
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
    const over = await chat(url, {}, named('p'));
    expect([over.status, over.text.includes('3 of 3 equal requests for tools in a row')]).toEqual([403, true]);
  });

  it('counts engine time', () => {
    const call = { tenant: 't' as TenantId, label: 'p', headers: { 'x-maitred-budget': 'engine-seconds=2' } };
    const check = (serviceMs: number) => checkBudget(configSchema.parse({}), call, () => ({ serviceMs }) as Spender);
    expect(() => check(1999)).not.toThrow();
    expect(() => check(2000)).toThrow('2 of 2 seconds of engine time');
  });

  it.each(['calls', 'calls=0', 'calls=1.5', 'calls=1, calls=2', 'days=1', 'tokens=9999999999999'])(
    'refuses the header %j',
    async (text) => {
      const { url } = await world([await fakeEngine()]);
      const got = await chat(url, {}, budget(text));
      expect([got.status, errorCode(got.text)]).toEqual([400, 'bad_request']);
    },
  );
});
