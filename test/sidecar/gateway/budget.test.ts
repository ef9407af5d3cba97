import { describe, expect, it } from 'vitest';
import { budgetOf, exceeded, type Spender } from '../../../sidecar/calls/budget.js';
import { withNote } from '../../../sidecar/calls/note.js';
import { configSchema } from '../../../sidecar/config/index.js';
import type { TenantId } from '../../../src/index.js';
import { completion, named, replies, bearer, keysOf, lone, refusal } from './world.js';

/** 100 tokens of prompt and 20 of answer a call. */
const USED = { usage: { prompt_tokens: 100, completion_tokens: 20 } };
const budget = (text: string, program = 'p') => ({ ...named(program), 'x-maitred-budget': text });

describe('the budget of a program', () => {
  it('ends with an error that says what was used of what, and only for that program', async () => {
    const { chat } = await lone(completion(USED), { budget: { tokens: 200 } });
    for (let call = 0; call < 2; call += 1) expect((await chat({}, named('p'))).status).toBe(200);
    const over = await chat({}, named('p'));
    expect(refusal(over)).toEqual([403, 'budget_exceeded']);
    expect(over.text).toContain('240 of 200 tokens. The bound is set by the gateway');
    expect((await chat({}, named('q'))).status).toBe(200);
  });

  it('is lowered by a header, never raised', async () => {
    const { chat } = await lone(completion(USED), { budget: { calls: 2 } });
    const status = async (headers: Record<string, string>) => (await chat({}, headers)).status;
    expect(await status(budget('calls=1'))).toBe(200);
    expect((await chat({}, budget('calls=1'))).text).toContain('is set by the header x-maitred-budget');
    expect(await status(budget('tokens=120, engine-seconds=1000'))).toBe(403);
    expect(await status(budget('calls=1000, tokens=121'))).toBe(200);
    expect(await status(budget('calls=1000'))).toBe(403);
  });

  it('is lowered by its workflow, never raised', async () => {
    const { chat, admin } = await lone(completion(USED), {
      budget: { calls: 2, workflows: { crawl: { calls: 1 }, free: { calls: 9 } } },
    });
    const statuses = async (workflow: string) => {
      const headers = { ...named(workflow), 'x-maitred-workflow': workflow };
      return [(await chat({}, headers)).status, (await chat({}, headers)).status, (await chat({}, headers)).status];
    };
    expect(await statuses('crawl')).toEqual([200, 403, 403]);
    for (const workflow of ['free', 'toString']) expect(await statuses(workflow)).toEqual([200, 200, 403]);
    expect((await admin('/programs/crawl')).json()).toMatchObject({ budget: [{ name: 'calls', used: 1, limit: 1 }] });
    // A call that names no workflow is none of it, also for whoever asks.
    expect((await chat({}, named('crawl'))).status).toBe(200);
    expect((await admin('/programs/crawl')).json()).toMatchObject({
      agent_type: 'crawl',
      budget: [{ name: 'calls', used: 2, limit: 2 }],
    });
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

  it('tells each answer how many calls are left after it, and what else was left when its call came', async () => {
    const { chat } = await lone(completion(USED), { budget: { tokens: 400 } });
    const left = async (headers: Record<string, string>) => (await chat({}, headers)).headers['x-maitred-budget-left'];
    expect(await left(budget('calls=9'))).toBe('tokens=400, calls=8');
    expect(await left(named('p'))).toBe('tokens=280');
    const free = await lone();
    expect((await free.chat({}, named('p'))).headers['x-maitred-budget-left']).toBeUndefined();
  });

  it('stops an agent that is told to call the same tool again and again', async () => {
    const asks = (path: string) => ({
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${Math.random()}`,
                type: 'function',
                function: { name: 'read', arguments: `{"path":"${path}"}` },
              },
            ],
          },
        },
      ],
    });
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

  it('is told to the model once before its end, at the end of a request that is answered', async () => {
    let refuses = false;
    const answers = completion(USED);
    const { chat, engine } = await lone(
      (response, seen, request) => (refuses ? replies(400, {}) : answers)(response, seen, request),
      { budget: { tokens: 700, warnAt: 0.5, calls: 30 } },
    );
    const lastOf = ({ body }: { body: Buffer }) =>
      (JSON.parse(String(body)) as { messages: { content: string }[] }).messages.at(-1)!.content;
    const ask = async (headers = named('p')) => {
      await chat({ messages: [{ role: 'user', content: 'go' }] }, headers);
      return lastOf(engine.seen.at(-1)!).replace('go', '').trim();
    };
    expect([await ask(), await ask(), await ask()]).toEqual(['', '', '']);
    refuses = true;
    const note =
      '[Note by the gateway: further calls of this task will be refused. It has used 360 of 700 tokens. Finish now with what you have.]';
    expect(await ask()).toBe(note);
    refuses = false;
    expect([await ask(), await ask()]).toEqual([note, '']);
    expect(await ask(budget('calls=1', 'q'))).toContain('0 of 1 calls');
    expect(await ask(named('r'))).toBe('');
  });

  it.each([
    ['chat', 'messages', { role: 'tool', content: 'ok' }, { content: 'ok\n\nN' }],
    [
      'chat',
      'messages',
      { role: 'user', content: [{ type: 'image_url' }] },
      { content: [{ type: 'image_url' }, { type: 'text', text: 'N' }] },
    ],
    [
      'messages',
      'messages',
      { role: 'user', content: [{ type: 'tool_result' }] },
      { content: [{ type: 'tool_result' }, { type: 'text', text: 'N' }] },
    ],
    [
      'responses',
      'input',
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      {
        content: [
          { type: 'input_text', text: 'go' },
          { type: 'input_text', text: 'N' },
        ],
      },
    ],
    ['responses', 'input', { type: 'function_call_output', output: 'ok' }, { output: 'ok\n\nN' }],
    ['chat', 'messages', { role: 'assistant', content: 'so' }, undefined],
    ['chat', 'messages', { role: 'user', content: ['so'] }, undefined],
    ['responses', 'input', { type: 'item_reference' }, undefined],
  ])('is told in %s at the end of %s: %j', (_, list, last, changed) => {
    const raw = Buffer.from(JSON.stringify({ [list]: [{ role: 'user', content: 'a' }, last] }));
    const noted = changed && {
      [list]: [
        { role: 'user', content: 'a' },
        { ...last, ...changed },
      ],
    };
    expect(withNote(raw, list, 'N')).toEqual(noted);
  });

  it('is told in a text alone, and not where no list is', () => {
    const raw = Buffer.from('{"input":"go"}');
    expect(withNote(raw, 'input', 'N')).toEqual({ input: 'go\n\nN' });
    expect(withNote(raw, undefined, 'N')).toBeUndefined();
  });

  it('counts engine time', () => {
    const config = configSchema.parse({});
    const check = (serviceMs: number) =>
      exceeded(
        budgetOf(config, { tenant: 't' as TenantId }, 'engine-seconds=2', () => ({ serviceMs }) as Spender),
        'p',
        'engine-seconds=2',
      )?.message;
    expect(check(1999)).toBeUndefined();
    expect(check(2000)).toContain('2 of 2 seconds of engine time');
  });

  it.each([
    ['calls', 'calls'],
    ['calls=0', 'calls=0'],
    ['tokens=5, calls=1.5', 'calls=1.5'],
    ['calls=1=1', 'calls=1=1'],
    ['calls=1, calls=2', 'calls=2'],
    ['days=1', 'days=1'],
    ['calls=1, token=5', 'token=5', 'tokens'],
    ['tokens=9999999999999', 'tokens=9999999999999'],
    ['calls=1,', ''],
  ])('refuses the header %j, and quotes the wrong part', async (text, part, meant?: string) => {
    const { chat } = await lone();
    const got = await chat({}, budget(text));
    expect(refusal(got)).toEqual([400, 'bad_request']);
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
    expect((got.json() as { error: { message: string } }).error.message).toContain(`: "${part}" is not${hint}`);
  });
});
