import { describe, expect, it } from 'vitest';
import { tenantId } from '../../../src/index.js';
import { apiFor, type JsonObject } from '../../../sidecar/apis/index.js';
import { answer, said } from './caller.js';
import { spread } from './spread.js';

/** Two gateways with one store. Each step names its gateway. */
function two() {
  let gateway = 0;
  const identifier = spread(2, () => gateway);
  const request = (body: JsonObject, path: string, tenant: string) => ({
    tenant: tenantId(tenant),
    headers: {},
    body,
    facts: apiFor(path)?.readRequest({ model: 'm', ...body }),
  });
  const at = (number: 0 | 1, body: JsonObject, answered?: JsonObject, path = '/v1/chat/completions', tenant = 't') => {
    gateway = number;
    const asked = request(body, path, tenant);
    const identity = identifier.identify(asked);
    if (answered) identifier.answered(identity, asked, apiFor(path)!.readAnswer(answered));
    return identity;
  };
  return { at };
}

let clock = 0;
const timed = () => said('system', `It is ${(clock += 1)}.`);
const user = said('user', 'Write about the weather of the alps.');
const chat = (...messages: JsonObject[]) => ({ messages });
const calling = (name: string, args: unknown, id = 'call_1') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

describe('gateways that share what they know', () => {
  it('know re-printed answers, every choice, and own contents under counted ids', () => {
    const { at } = two();
    const words = 'Thought: I need to use a tool to help me.\nAction: get_weather\nAction Input: ';
    const printed = at(0, chat(timed(), user), answer(`${words}{"city": "Paris", "days": 3}`));
    const again = said('assistant', `${words}{'city': 'Paris', 'days': 3}`);
    expect(at(1, chat(timed(), user, again, said('user', 'sun'))).program).toBe(printed.program);
    const second = said('assistant', 'The second of two choices, which is as long as any other answer here.');
    const chosen = at(0, chat(user), { choices: [{ message: said('assistant', 'First.') }, { message: second }] });
    expect(at(1, chat(user, second, said('user', 'Go on.'))).program).toBe(chosen.program);
    const search = (q: string) => calling('search', { q }, 'functions.search:0');
    const programs = ['a', 'b'].map((q) => at(0, chat(timed(), user), answer(null, search(q))).program);
    const back = (q: string) => at(1, chat(timed(), user, search(q), said('tool', 'x'))).program;
    expect(['a', 'b'].map(back)).toEqual(programs);
  });
});

describe('a sub-agent at another gateway than its parent', () => {
  const TASK = 'Find the weather of the next week in the alps.';
  const given = calling('research', { input: TASK }, 'call_of_the_parent');
  const sub = (text: string) => chat(said('system', 'You research.'), said('user', text));

  it.each([
    ['the whole message', TASK],
    ['a line', `You have a task.\nTask: ${TASK}\nBe brief.`],
  ])('is a thread of its program, and so are its next calls: a task that is %s', (_what, text) => {
    const { at } = two();
    const { program } = at(0, chat(user), answer(null, given));
    const look = calling('look', { at: 'alps' }, 'call_of_the_sub');
    const first = at(1, sub(text), answer(null, look));
    expect(first).toMatchObject({ program, source: 'history' });
    expect(first.thread).toMatch(/^research-/);
    const next = at(1, chat(...sub(text).messages, look, said('tool', 'sun')));
    expect(next).toMatchObject({ program, thread: first.thread });
    expect(at(1, sub(text), undefined, '/v1/chat/completions', 'other').source).toBe('none');
  });

  it('is nobody’s once the parent goes on, at any gateway, or if two have passed the task on', () => {
    for (const goesOnAt of [0, 1] as const) {
      const { at } = two();
      at(0, chat(user), answer(null, given));
      at(goesOnAt, chat(user, given, said('tool', 'sun')));
      expect(at(1, sub(TASK)).source).toBe('none');
    }
    const { at } = two();
    for (const topic of ['snow', 'rain']) at(0, chat(said('user', topic)), answer(null, given));
    expect(at(1, sub(TASK)).source).toBe('none');
  });

  it('is the only call that the task leads there', () => {
    const { at } = two();
    const { program } = at(0, chat(user), answer(null, given));
    expect([at(1, sub(TASK)), at(1, sub(TASK))].map((each) => each.program === program)).toEqual([true, false]);
  });

  it('is no other run of a question that an agent passes on', () => {
    const { at } = two();
    const asks = () => chat(said('system', 'You plan.'), said('user', TASK));
    at(0, asks(), answer(null, given));
    expect(at(1, asks()).source).toBe('none');
  });

  it('is not looked for where the engine keeps the conversation: no gateway sees that it goes on', () => {
    const { at } = two();
    const output = [{ type: 'function_call', call_id: 'c1', name: 'ask', arguments: JSON.stringify({ TASK }) }];
    at(0, { input: 'Plan.' }, { id: 'r1', output }, '/v1/responses');
    expect(at(1, { input: TASK }, undefined, '/v1/responses').source).toBe('none');
  });
});
