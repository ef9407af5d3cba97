import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../sidecar/apis/index.js';
import { answer, chat, createCaller, said, it } from './caller.js';

const calling = (name: string, args: unknown, id = 'call_1', content: string | null = null) => ({
  content,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});
const asked = (name: string, args: unknown, id?: string) => answer(null, calling(name, args, id));
const system = said('system', 'You plan, and leave the work to others.');
const user = said('user', 'Write about the weather of the alps.');
let clock = 0;
const timed = () => said('system', `It is ${(clock += 1)}.`);

describe('answers that a client prints anew', () => {
  it('are known with other quotes and white space (LlamaIndex ReAct)', ({ call, identify }) => {
    const words = 'Thought: I need to use a tool to help me.\nAction: get_weather\nAction Input: ';
    const { program } = call(chat(timed(), user), answer(`${words}{"city": "Paris", "days": 3}`));
    const again = said('assistant', `${words}{'city': 'Paris', 'days': 3}\n`);
    expect(identify(chat(timed(), user, again, said('user', 'Observation: sun'))).program).toBe(program);
  });

  it.each([
    ['text', (args: JsonObject) => answer(JSON.stringify(args))],
    ['the one tool', (args: JsonObject) => asked('reply', args, 'call_0')],
  ])('are known as JSON of %s with spaces and keys in another order (atomic-agents)', (_as, reply) => {
    const { call, identify } = createCaller();
    const parts = { chat_message: 'Rain, then "sun" in the afternoon.', suggestions: ['Take a coat.', 'Go early.'] };
    const { program } = call(chat(timed(), user), reply(parts));
    const printed = JSON.stringify({ suggestions: parts.suggestions, chat_message: parts.chat_message }, null, 2);
    expect(identify(chat(timed(), user, said('assistant', printed), said('user', 'And?'))).program).toBe(program);
  });

  it('are nobody’s once two programs got them', ({ call, identify }) => {
    const json = '{"chat_message": "The weather is fine, and remains so until tomorrow."}';
    for (let i = 0; i < 2; i += 1) call(chat(timed(), user), answer(json));
    const printed = said('assistant', json.replaceAll('"', "'"));
    expect(identify(chat(timed(), user, printed, said('user', 'And?'))).source).toBe('none');
  });
});

describe('histories that a client prints', () => {
  const SUMMARY = 'The user asked for a text about the alps.\nIts first half is written, the second one is to be done.';
  const said1 = 'I shall begin with the snow, because most of the readers come in winter.';
  const ID = 'call_8f0a7c31d2';

  it.each([
    ['LangChain’s tags', `<message type="human">Go.</message>\n<message type="ai">${said1}</message>`],
    ['labels', `[USER]: Go.\n[ASSISTANT]: ${said1}\n[TOOL]: ok`],
    ['labels of another kind', `Human: Go.\nAI: ${said1}`],
    ['ids in tags', `<message type="ai"><tool_call id="${ID}" name="ls"/></message>`],
    ['ids in JSON', JSON.stringify([calling('ls', {}, ID)])],
  ])('are their program’s with %s', (_form, printed) => {
    const { call, identify } = createCaller();
    const { program } = call(chat(timed(), user), answer(said1, calling('ls', {}, ID, said1)));
    const plain = call(
      chat(timed(), user, { role: 'assistant', ...calling('ls', {}, ID, said1) }, said('tool', 'a')),
      answer(said1),
    );
    expect(plain.program).toBe(program);
    const sent = chat(said('user', `Summarise this conversation in a few words.\n\n${printed}\n\nWrite nothing else.`));
    expect(identify(sent)).toMatchObject({ program, source: 'history', thread: '' });
    expect(identify({ ...sent, tenant: 'other' }).source).toBe('none');
  });

  it.each(['user', 'system'])('go on from a summary in a %s message', (role) => {
    const { call, identify } = createCaller();
    const { program } = call(chat(system, user), answer(said1));
    const whole = [system, user, said('assistant', said1)];
    expect(call(chat(...whole, said('user', 'Summarise.')), answer(SUMMARY)).program).toBe(program);
    const compacted = said(role, `Here is a summary of the conversation to date:\n\n<summary>\n${SUMMARY}\n</summary>`);
    const rest = role === 'user' ? [system, compacted] : [compacted, said('user', 'Go on.')];
    expect(identify(chat(...rest)).program).toBe(program);
  });

  it('are nobody’s if answers of two programs are in them, or half an answer', ({ call, identify }) => {
    const other = 'I shall begin with the sun, because most of the readers come in summer.';
    for (const words of [said1, other]) call(chat(timed(), user), answer(words));
    expect(identify(chat(said('user', `Which is better?\nA: ${said1}\nB: ${other}`))).source).toBe('none');
    expect(identify(chat(said('user', `A: ${said1.slice(0, -20)}`))).source).toBe('none');
  });

  it('are not recognised by a text that all of them were asked about', ({ call }) => {
    const text = 'A line of a long text, which all of them ask about.\n'.repeat(3).trimEnd();
    const programs = Array.from({ length: 20 }, (_, i) =>
      call(chat(said('user', `${text}\nQuestion ${i}?`)), answer(text)),
    );
    expect(new Set(programs.map(({ program }) => program)).size).toBe(20);
  });
});

describe('sub-agents', () => {
  const TASK = 'Find the weather of the next week in the alps.';
  const start = chat(system, user);
  const goOn = (task = TASK, id = 'call_1') =>
    chat(system, user, { role: 'assistant', ...calling('research', { input: task }, id) }, said('tool', 'sun'));
  const sub = (text: string) => chat(said('system', 'You research.'), said('user', text));

  it.each([
    ['alone', TASK],
    ['as a line', `You have been submitted this task by your manager.\n---\nTask:\n${TASK}\n---\nAnswer briefly.`],
    ['after a label', `Task: ${TASK}`],
  ])('are threads of the program whose tool call holds their task: %s', (_how, text) => {
    const { call, identify } = createCaller();
    const { program } = call(start, asked('research', { input: TASK }));
    const first = call(sub(text), answer(null, calling('search', { q: 'alps' }, 'call_9')));
    expect(first).toMatchObject({ program, source: 'history' });
    expect(first.thread).toMatch(/^research-\w{4}$/);
    const turn = [{ role: 'assistant', ...calling('search', { q: 'alps' }, 'call_9') }, said('tool', 'sun')];
    expect(call(chat(...sub(text).body.messages, ...turn), answer('Sun.'))).toMatchObject({
      program,
      thread: first.thread,
    });
    expect(identify(goOn())).toMatchObject({ program, thread: '' });
  });

  it('may be several at once, of lists and of many lines, and have sub-agents themselves', ({ call }) => {
    const tasks = ['north', 'south'].map((part) => `Find the weather in the ${part}.\nWrite a table of it.`);
    const { program } = call(start, asked('spawn', { agents: tasks.map((prompt) => ({ prompt })) }));
    const deep = 'Look up the wind of the last night there.';
    const subs = tasks.map((task) => call(sub(task), asked('look', { deep }, 'call_2')));
    expect(subs.map((each) => each.program)).toEqual([program, program]);
    expect(subs[0]!.thread).not.toBe(subs[1]!.thread);
    const { call: again } = createCaller();
    again(start, asked('spawn', { prompt: tasks[0] }));
    const parent = again(sub(tasks[0]!), asked('look', { deep }, 'call_2'));
    expect(again(chat(said('user', deep)), answer('None.')).thread).toMatch(new RegExp(`^${parent.thread}/look-`));
  });

  it('are joined for as long as their parent waits, and not to another tenant', ({ call, identify }) => {
    const { program } = call(start, asked('research', { input: TASK }));
    expect(identify({ ...sub(TASK), tenant: 'other' }).source).toBe('none');
    expect(identify(sub(TASK)).program).toBe(program);
    identify(goOn());
    expect(identify(sub(TASK)).source).toBe('none');
  });

  it('are split where two waiting programs have given the task', ({ call, identify }) => {
    for (let i = 0; i < 2; i += 1) call(start, asked('research', { input: TASK }, `call_long_${i}`));
    expect(identify(sub(TASK)).source).toBe('none');
  });

  it('are not strangers with the question that an agent passes on, be there a clock in the system prompt', ({
    call,
    identify,
  }) => {
    const at = (time: string) => chat(said('system', `You plan. It is ${time}.`), said('user', TASK));
    const { program } = call(at('12:05'), asked('research', { input: TASK }));
    expect(identify(at('12:06')).source).toBe('none');
    expect(identify(sub(TASK)).program).toBe(program);
  });

  it.each([
    ['a path', '/workspace/project/src/main.ts'],
    ['a few characters', 'the weather in it'],
  ])('are not recognised by %s', (_what, text) => {
    const { call, identify } = createCaller();
    call(start, asked('read', { text }));
    expect(identify(sub(`Look at this:\n${text}`)).source).toBe('none');
  });

  it('are not recognised by a part of a task, or of a line', ({ call, identify }) => {
    call(start, asked('research', { input: `${TASK}\nAnd write it down, word by word.` }));
    expect(identify(sub(TASK)).source).toBe('none');
    call(start, asked('research', { input: TASK }));
    expect(identify(sub(`${TASK} Or of the next month.`)).source).toBe('none');
  });
});

describe('several choices', () => {
  const choices = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ role: 'assistant', content: `Idea ${i} is the one.` }));

  it('may each be continued, up to sixteen', ({ call, identify }) => {
    const all = choices(20);
    const { program } = call({ body: { n: 20, messages: [user] } }, { choices: all.map((message) => ({ message })) });
    const went = all.map((message) => identify(chat(user, message, said('user', 'Go on.'))).program === program);
    expect(went).toEqual([...Array<boolean>(16).fill(true), ...Array<boolean>(4).fill(false)]);
  });
});

describe('short answers', () => {
  const QUESTION = 'What is the capital of Italy?';
  const rag = (question: string) =>
    said('user', `### Task: answer.\n<context>\nDocument ${(clock += 1)}\n</context>\n${question}`);
  const turn = (question: string, reply: string) => [said('user', question), said('assistant', reply)];

  it('are known after their question, with documents around it and a clock before it', ({ call }) => {
    const { program } = call(chat(timed(), rag(QUESTION)), answer('Rome.'));
    const second = call(
      chat(timed(), ...turn(QUESTION, 'Rome.'), rag('And that of France, please?')),
      answer('Paris.'),
    );
    expect(second).toMatchObject({ program, source: 'history' });
    const both = [...turn(QUESTION, 'Rome.'), ...turn('And that of France, please?', 'Paris.')];
    expect(call(chat(timed(), ...both, rag('And that of Spain, please?')), answer('Madrid.')).program).toBe(program);
  });

  it('are nobody’s if two programs got them, or if one of several is unknown', ({ call, identify }) => {
    const again = chat(timed(), ...turn(QUESTION, 'Rome.'), rag('And that of France, please?'));
    call(chat(timed(), rag(QUESTION)), answer('Rome.'));
    const examples = chat(timed(), ...turn('What is the capital of Peru?', 'Lima.'), ...again.body.messages);
    expect(identify(examples).source).toBe('none');
    call(chat(timed(), rag(QUESTION)), answer('Rome.'));
    expect(identify(again).source).toBe('none');
    expect(identify({ ...again, tenant: 'other' }).source).toBe('none');
  });

  it('are an example in many prompts, of which at most one is taken for the program', ({ call }) => {
    const { program } = call(chat(said('system', 'Answer.'), said('user', QUESTION)), answer('Rome.'));
    const example = turn(QUESTION, 'Rome.');
    const others = Array.from(
      { length: 20 },
      (_, i) => call(chat(timed(), ...example, said('user', `And of ${i}?`)), answer('?')).program,
    );
    expect(others.filter((other) => other === program).length).toBeLessThanOrEqual(1);
    expect(new Set(others).size).toBe(20);
  });
});

it('a tenant that repeats one line, in thousands of answers and in one message, costs a bounded search', () => {
  const { call, identify } = createCaller({ conversationsMax: 10_000 });
  const line = 'This line leads to every one of the answers.';
  const words = (i: number) => `Of ${i}.\n${line}\nAnd so on, until the end of it.`;
  for (let i = 0; i < 5000; i += 1) call(chat(said('user', `Do ${i}.`)), answer(words(i)));
  expect(identify(chat(said('user', `${line}\n`.repeat(2000)))).source).toBe('none');
  expect(identify(chat(said('user', `Go on.\n${words(4990)}`))).source).toBe('history');
});
