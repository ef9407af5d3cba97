import { describe, expect } from 'vitest';
import { chat, answer, createCaller, said, type Sent, it } from './caller.js';

/** What a client that knows all of another's messages gains in the same tenant, as OPERATIONS says, and in another: nothing. */
const WORDS = 'I shall look at the map of the whole valley first, and ask for the weather there after that.';
const TASK = 'Find out how the weather will be in the whole valley.';
const asking = (task: string, id: string) => ({
  content: WORDS,
  tool_calls: [{ id, type: 'function', function: { name: 'ask', arguments: JSON.stringify({ task }) } }],
});
const start = [said('system', 'You plan.'), said('user', 'Plan a walk.')];
const turn = (task: string, id: string) => [
  { role: 'assistant', ...asking(task, id) },
  { role: 'tool', tool_call_id: id, content: 'sun' },
];
const next = chat(...start, ...turn(TASK, 'call_of_the_victim'));

function victim() {
  const caller = createCaller({ conversationsMax: 10_000 });
  const { program } = caller.call(chat(...start), answer(null, asking(TASK, 'call_of_the_victim')));
  return { ...caller, program };
}

/** Requests by which somebody who knows the victim's conversation may come into its program. */
const INTRUSIONS: readonly (readonly [how: string, sent: Sent])[] = [
  ['the whole conversation', next],
  ['an answer after other messages', chat(said('user', 'Mine.'), ...turn(TASK, 'call_of_the_victim'))],
  ['the id of a tool call in a text', chat(said('user', JSON.stringify({ id: 'call_of_the_victim' })))],
  ['the task of a sub-agent', chat(said('user', TASK))],
];

describe('a client that knows another’s conversation', () => {
  it.each(INTRUSIONS)('shares its program by %s, and takes none of its calls away', (_how, sent) => {
    const { call, identify, program } = victim();
    for (let i = 0; i < 100; i += 1) call(sent, answer(`Mine, ${i}: ${WORDS}`));
    expect(identify(next).program).toBe(program);
  });

  it.each(INTRUSIONS)('gains nothing in another tenant by %s', (_how, sent) => {
    const { call, identify, program } = victim();
    for (let i = 0; i < 100; i += 1)
      expect(call({ ...sent, tenant: 'other' }, answer(null, asking(TASK, 'call_of_the_victim'))).program).not.toBe(
        program,
      );
    expect(identify(chat(said('user', TASK)))).toMatchObject({ program, source: 'history' });
    expect(identify(next).program).toBe(program);
  });

  it('can split it by equal answers only where the conversation does not tell either, and never takes it over', () => {
    const { call, identify, program } = victim();
    for (let i = 0; i < 300; i += 1)
      call(chat(said('user', `Mine ${i}.`)), answer(null, asking(TASK, 'call_of_the_victim')));
    expect(identify(next).program).toBe(program);
    const moved = chat(said('user', 'Shortened.'), ...turn(TASK, 'call_of_the_victim'));
    expect(identify(moved).source).toBe('none');
    expect(identify(chat(said('user', TASK))).source).toBe('none');
  });

  it('draws at most eight first calls with the words of one of its tasks, and only of the same client software', () => {
    const { identify, program } = victim();
    const ask = (agent: string) => identify({ ...chat(said('user', TASK)), headers: { 'user-agent': agent } }).program;
    expect(ask('another/1.0')).not.toBe(program);
    const drawn = Array.from({ length: 20 }, () => ask('')).filter((other) => other === program);
    expect(drawn.length).toBe(8);
  });

  it('cannot make a call with an answer of its own join by a text that it has planted', ({ call, identify }) => {
    const own = call(chat(...start), answer('Yes, that is the way that I would go if I were you, in any weather.'));
    call(chat(said('user', 'Mine.')), answer(null, asking('Plan a walk.', 'c1')));
    call(chat(said('user', 'Mine.')), answer(`Plan a walk.\n${TASK}`));
    const goesOn = chat(
      ...start,
      said('assistant', 'Yes, that is the way that I would go if I were you, in any weather.'),
      said('user', `${TASK}\nPlan a walk.\n${TASK}`),
    );
    expect(identify(goesOn).program).toBe(own.program);
  });
});
