import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../sidecar/apis/index.js';
import { answer, chat, createCaller, said, it } from './caller.js';

const LONG = 'The answer is long enough to be told from any other one, and is so from its first words on.';
const system = said('system', 'You help.');
const ask = said('user', 'Do it.');
const go = said('user', 'Go on.');

describe('a client that sends no id', () => {
  it('is one program as long as its calls go on from our answers', ({ call }) => {
    const conversation = [system, ask];
    const first = call(chat(...conversation), answer('step 0'));
    expect(first.source).toBe('none');
    for (let step = 0; step < 20; step++) {
      conversation.push(said('assistant', `step ${step}`), said('user', `result ${step}`));
      const next = call(chat(...conversation), answer(`step ${step + 1}`));
      expect(next).toMatchObject({ program: first.program, source: 'history', thread: '' });
    }
  });

  it('is a new program when it starts, or goes on from what we never said', ({ call }) => {
    const first = call(chat(system, ask), answer('one'));
    expect(call(chat(system, ask, said('assistant', 'two'), go), answer('x')).program).not.toBe(first.program);
    expect(call(chat(system, ask), answer('x')).program).not.toBe(first.program);
    expect(call(chat(ask, said('assistant', 'one'), go), answer('x')).program).not.toBe(first.program);
  });

  it('is not read when the client names its program, or when history is off', () => {
    const named = createCaller().identify({ ...chat(ask), headers: { 'x-session-id': 'p' } });
    expect(named.leaf).toBeUndefined();
    expect(createCaller({ sources: ['body'] }).identify(chat(ask)).leaf).toBeUndefined();
  });

  it('may put other sources behind history', () => {
    const { call } = createCaller({ sources: ['history', 'body'] });
    const named = call({ body: { session_id: 'p', messages: [ask] } }, answer('one'));
    expect(named).toMatchObject({ label: 'p', source: 'session_id', leaf: undefined });
  });

  it('joins across a turn that failed or was not remembered', ({ call, identify }) => {
    const first = call(chat(ask), answer('one'));
    const unanswered = [ask, said('assistant', 'one'), go];
    expect(identify(chat(...unanswered)).program).toBe(first.program);
    const later = [...unanswered, said('assistant', 'cut off'), go];
    expect(identify(chat(...later)).program).toBe(first.program);
  });

  it('works for Anthropic messages and Responses items', ({ call }) => {
    const claude = { path: '/v1/messages' };
    const blocks = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'ok' },
      { type: 'tool_use', id: 't', name: 'ls', input: {} },
    ];
    const first = call({ ...claude, body: { system: 's', messages: [ask] } }, { content: blocks });
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] };
    const hinted = [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }];
    const back = { system: hinted, messages: [ask, { role: 'assistant', content: blocks.slice(1) }, result] };
    expect(call({ ...claude, body: back }, {}).program).toBe(first.program);

    const items = { path: '/v1/responses' };
    const output = [
      { type: 'reasoning', id: 'rs' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
      { type: 'function_call', call_id: 'c', name: 'ls', arguments: '{}' },
    ];
    const begun = call({ ...items, body: { input: 'go', instructions: 'i' } }, { id: 'r', output });
    const input = [said('user', 'go'), ...output.slice(1), { type: 'function_call_output', call_id: 'c', output: 'x' }];
    expect(call({ ...items, body: { input, instructions: 'i' } }, {}).program).toBe(begun.program);
  });
});

describe('programs that run alike, word by word', () => {
  const calling = (id: string) => ({
    tool_calls: [{ id, type: 'function', function: { name: 'ls', arguments: '{}' } }],
  });
  const then = (content: string) => [system, ask, said('assistant', content), go];

  it('do not become one', ({ call }) => {
    const begun = Array.from({ length: 5 }, () => call(chat(system, ask), answer(LONG)).program);
    const second = begun.map(() => call(chat(...then(LONG)), answer('same again')).program);
    expect(second.toSorted()).toEqual(begun.toSorted());
    const third = begun.map((_, i) => {
      const more = [...then(LONG), said('assistant', 'same again'), said('user', `now ${i}`)];
      return call(chat(...more), answer(`different ${i}`)).program;
    });
    expect(third.toSorted()).toEqual(begun.toSorted());
  });

  it('do not become one when one is ahead of the other', ({ call }) => {
    const a = call(chat(system, ask), answer(LONG)).program;
    expect(call(chat(...then(LONG)), answer('x')).program).toBe(a);
    const b = call(chat(system, ask), answer(LONG)).program;
    expect(b).not.toBe(a);
    expect(call(chat(...then(LONG)), answer('x')).program).toBe(b);
  });

  // Earlier, the call took the program that had waited longest. A program that broke off then got the calls of the next
  // run. That run left its own first call behind for the run after it, and so on forever.
  it('are not taken for one that broke off', ({ call }) => {
    const broken = call(chat(system, ask), answer(LONG)).program;
    for (let run = 0; run < 3; run++) {
      const begun = call(chat(system, ask), answer(LONG)).program;
      expect(begun).not.toBe(broken);
      expect(call(chat(...then(LONG)), answer('x')).program).toBe(begun);
    }
  });

  // Earlier, programs with one question swapped places with each call, or lost all calls to one with another sign.
  it('are told apart by the ids of their tool calls', ({ call, identify }) => {
    const back = (id: string) =>
      chat(
        system,
        ask,
        { role: 'assistant', content: null, ...calling(id) },
        { ...said('tool', 'a'), tool_call_id: id },
      );
    const begun = ['c1', 'c2', 'c3'].map((id) => call(chat(system, ask), answer(null, calling(id))).program);
    expect(['c1', 'c3', 'c2'].map((id) => identify(back(id)).program)).toEqual([begun[0], begun[2], begun[1]]);
    expect(identify(back('c2')).program).toBe(begun[1]);
  });

  it('go on one each when a client makes call ids of its own', ({ call, identify }) => {
    const begun = ['c1', 'c2'].map((id) => call(chat(system, ask), answer(null, calling(id))).program);
    const back = ['x', 'y'].map((id) => chat(system, ask, { role: 'assistant', content: null, ...calling(id) }, go));
    expect(back.map((sent) => identify(sent).program).toSorted()).toEqual(begun.toSorted());
  });

  // Earlier, a program that continued by `previous_response_id` kept waiting at its first answer, and got the next
  // one's calls.
  it('are not taken for one that went on by another sign', ({ call }) => {
    const path = '/v1/responses';
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: LONG }] }];
    const whole = { path, body: { input: [ask, ...output, go] } };
    const a = call({ path, body: { input: 'Do it.' } }, { id: 'r1', output }).program;
    const b = call({ path, body: { input: 'Do it.' } }, { id: 'r2', output }).program;
    expect(call({ path, body: { input: [go], previous_response_id: 'r2' } }, {}).program).toBe(b);
    expect(call(whole, {}).program).toBe(a);
  });

  it('leave a fork or a retry to the one that went on last', ({ call, identify }) => {
    const a = call(chat(system, ask), answer(LONG)).program;
    const forks = [1, 2, 3].map((i) => identify(chat(...then(LONG), said('user', `branch ${i}`))).program);
    expect(forks).toEqual([a, a, a]);
  });

  it('wait in bounded number, and who finds no seat is a new program', () => {
    const { call, identify } = createCaller({ conversationsMax: 16 });
    const begun = Array.from({ length: 50 }, () => call(chat(system, ask), answer(LONG)).program);
    const went = begun.map(() => identify(chat(...then(LONG))).program);
    const seated = went.filter((program) => begun.includes(program));
    expect(seated.length).toBeGreaterThanOrEqual(12);
    expect(seated.length).toBeLessThanOrEqual(16);
    expect(went.slice(0, seated.length)).toEqual(begun.slice(-seated.length).reverse());
    expect(new Set([...begun, ...went]).size).toBe(100 - seated.length);
  });
});

describe('histories that are cut or rewritten', () => {
  const turns = Array.from({ length: 12 }, (_, i) => [
    said('user', `observation ${i} of the run`),
    said('assistant', `${i}: ${LONG}`),
  ]);

  function runTo(turn: number) {
    const caller = createCaller();
    let program = '';
    for (let i = 0; i <= turn; i++) {
      const messages = [system, ...turns.slice(0, i).flat(), turns[i]![0]!];
      program = caller.call(chat(...messages), answer(`${i}: ${LONG}`)).program;
    }
    return { ...caller, program };
  }

  it.each<[string, (all: JsonObject[]) => JsonObject[]]>([
    ['without its beginning', (all) => all.slice(-4)],
    ['without its middle', (all) => [...all.slice(0, 2), ...all.slice(-5)]],
    [
      'with old results taken out',
      (all) => all.map((m, i) => (i < 15 && m['role'] === 'user' ? said('user', '[cut]') : m)),
    ],
    ['with a clock in the system prompt', (all) => [said('system', 'It is 12:05.'), ...all.slice(1)]],
    ['with a summary for the beginning', (all) => [system, said('user', 'Summary: ...'), ...all.slice(-3)]],
  ])('%s', (_how, cut) => {
    const { identify, call, program } = runTo(11);
    const messages = cut([system, ...turns.flat(), go]);
    expect(identify(chat(...messages))).toMatchObject({ program, source: 'history' });
    call(chat(...messages), answer('short'));
    expect(identify(chat(...messages, said('assistant', 'short'), go)).program).toBe(program);
  });

  it('is not guessed from short answers', ({ call, identify }) => {
    call(chat(system, said('user', 'go')), answer('ok'));
    expect(identify(chat(said('user', 'go'), said('assistant', 'ok'), go)).source).toBe('none');
  });

  it('is not guessed from what two programs were told', ({ call, identify }) => {
    const a = call(chat(said('system', 'a'), ask), answer(LONG)).program;
    expect(identify(chat(ask, said('assistant', LONG), go)).program).toBe(a);
    const b = call(chat(said('system', 'b'), ask), answer(LONG)).program;
    expect(identify(chat(ask, said('assistant', LONG), go)).source).toBe('none');
    expect(identify(chat(said('system', 'a'), ask, said('assistant', LONG), go)).program).toBe(a);
    expect(identify(chat(said('system', 'b'), ask, said('assistant', LONG), go)).program).toBe(b);
  });
});

describe('what is remembered', () => {
  const next = chat(ask, said('assistant', LONG), go);

  it('belongs to the tenant', ({ call, identify }) => {
    call({ ...chat(system, ask), tenant: 'a' }, answer(LONG));
    expect(identify({ ...chat(system, ask, said('assistant', LONG), go), tenant: 'b' }).source).toBe('none');
    expect(identify({ ...next, tenant: 'b' }).source).toBe('none');
  });

  it('is forgotten with the program, and not before', ({ call, identify, identifier }) => {
    const first = call(chat(system, ask), answer(LONG));
    identifier.ended(first.program);
    expect(identify(chat(system, ask, said('assistant', LONG), go)).source).toBe('none');
    expect(identify(next).source).toBe('none');
    const again = call(chat(system, ask), answer(LONG));
    expect(again.program).not.toBe(first.program);
    expect(identify(chat(system, ask, said('assistant', LONG), go)).program).toBe(again.program);
    expect(identify(next).program).toBe(again.program);
  });

  it('is bounded, least recently used first out', () => {
    const { call, identify } = createCaller({ conversationsMax: 5 });
    for (let i = 0; i < 20; i++) call(chat(said('user', `task ${i}`)), answer(`${i} ${LONG}`));
    const goOn = (i: number) => identify(chat(said('user', `task ${i}`), said('assistant', `${i} ${LONG}`), go)).source;
    expect([0, 14, 15, 19].map(goOn)).toEqual(['none', 'none', 'history', 'history']);
  });

  it('takes no conversation of more messages than it can hash in passing', ({ identify }) => {
    const many = Array.from({ length: 10_001 }, () => ask);
    expect(identify(chat(...many)).leaf).toBeUndefined();
    expect(identify(chat(...many.slice(1))).leaf).toBeDefined();
  });
});
