import { describe, expect, it } from 'vitest';
import { checkBudget, type Spender } from '../../../sidecar/calls/budget.js';
import { configSchema } from '../../../sidecar/config/index.js';
import type { TenantId } from '../../../src/index.js';
import { bearer, completion, keysOf, named, lone, refusal } from './world.js';

/** 100 tokens of prompt and 20 of answer a call. */
const USED = { usage: { prompt_tokens: 100, completion_tokens: 20 } };
const budget = (text: string, program = 'p') => ({ ...named(program), 'x-maitred-budget': text });

describe('the budget of a program', () => {
  it('ends with an error that says what was used of what, and only for that program', async () => {
    const { chat } = await lone(completion(USED), { budget: { tokens: 200 } });
    for (let call = 0; call < 2; call += 1) expect((await chat({}, named('p'))).status).toBe(200);
    const over = await chat({}, named('p'));
    expect(refusal(over)).toEqual([403, 'budget_exceeded']);
    expect(over.text).toContain('240 of 200 tokens');
    expect((await chat({}, named('q'))).status).toBe(200);
  });

  it('is lowered by a header, never raised', async () => {
    const { chat } = await lone(completion(USED), { budget: { calls: 2 } });
    const status = async (headers: Record<string, string>) => (await chat({}, headers)).status;
    expect(await status(budget('calls=1'))).toBe(200);
    expect(await status(budget('calls=1'))).toBe(403);
    expect(await status(budget('tokens=120, engine-seconds=1000'))).toBe(403);
    expect(await status(budget('calls=1000, tokens=121'))).toBe(200);
    expect(await status(budget('calls=1000'))).toBe(403);
  });

  it('is that of its tenant', async () => {
    const { chat } = await lone(completion(USED), {
      auth: { keys: keysOf('small', 'free') },
      budget: { calls: 1, tenants: { free: { calls: null } } },
    });
    const statuses = async (tenant: string) => {
      const first = await chat({}, { ...bearer(tenant), ...named('p') });
      const second = await chat({}, { ...bearer(tenant), ...named('p') });
      return [first.status, second.status];
    };
    expect(await statuses('small')).toEqual([200, 403]);
    expect(await statuses('free')).toEqual([200, 200]);
  });

  it('tells each answer what was left when its call came', async () => {
    const { chat } = await lone(completion(USED), { budget: { tokens: 400 } });
    const left = async (headers: Record<string, string>) => (await chat({}, headers)).headers['x-maitred-budget-left'];
    expect(await left(budget('calls=9'))).toBe('tokens=400, calls=9');
    expect(await left(named('p'))).toBe('tokens=280');
    const free = await lone();
    expect((await free.chat({}, named('p'))).headers['x-maitred-budget-left']).toBeUndefined();
  });

  it('stops an agent that is told to call the same tool again and again', async () => {
    const asks = (path: string) => ({ choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [{ id: `call_${Math.random()}`, type: 'function', function: { name: 'read', arguments: `{"path":"${path}"}` } }] } }] }); // prettier-ignore
    let path = 'a';
    const { chat } = await lone((response, seen, request) => completion(asks(path))(response, seen, request), {
      budget: { repeats: 3 },
    });
    const status = async () => (await chat({}, named('p'))).status;
    expect([await status(), await status()]).toEqual([200, 200]);
    path = 'b';
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
    const over = await chat({}, named('p'));
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
      const { chat } = await lone();
      expect(refusal(await chat({}, budget(text)))).toEqual([400, 'bad_request']);
    },
  );
});
