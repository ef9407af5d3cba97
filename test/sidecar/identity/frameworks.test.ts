import { describe, expect } from 'vitest';
import { answer, chat, createCaller, said, it } from './caller.js';

/* Requests as agent frameworks send them besides plain conversations, in a few words of our own. */

const WORDS = 'First I shall look at the map of the whole valley, then I shall ask for the weather there.';
const OTHER = 'The map shows two ways from the village to the pass, and one of them is closed in winter.';

describe('an answer inside of a message that the client writes for the model (plans of smolagents)', () => {
  const planned = (plan: string) =>
    chat(
      said('system', 'You act.'),
      said('user', 'New task: walk.'),
      said('assistant', `Here is the plan that I follow:\n\`\`\`\n${plan}\n\`\`\`\nNow I begin.`),
      said('user', 'Proceed.'),
    );

  it('names its program', ({ call, identify }) => {
    const { program } = call(chat(said('user', 'Plan a walk.')), answer(WORDS));
    expect(identify(planned(WORDS)).program).toBe(program);
    expect(identify({ ...planned(WORDS), tenant: 'other' }).source).toBe('none');
  });

  it('names none if two programs gave it, or if only a part of it is there', ({ call, identify }) => {
    call(chat(said('user', 'Plan a walk.')), answer(`${WORDS}\n${OTHER}`));
    expect(identify(planned(OTHER)).source).toBe('none');
    for (const task of ['here', 'there']) call(chat(said('user', `Plan a walk ${task}.`)), answer(WORDS));
    expect(identify(planned(WORDS)).source).toBe('none');
  });

  it('counts for the longest of answers that contain each other, as the others are a part of it', ({
    call,
    identify,
  }) => {
    const long = `${WORDS}\n${OTHER}`;
    call(chat(said('user', 'Plan a walk.')), answer(WORDS));
    const { program } = call(chat(said('user', 'Plan two walks.')), answer(long));
    call(chat(said('user', 'Describe the map.')), answer(OTHER));
    expect(identify(planned(long)).program).toBe(program);
  });
});

describe('an answer whose fields the client drops and adds (History of dspy)', () => {
  const field = (name: string, text: string) => `[[ ## ${name} ## ]]\n${text}`;
  const full = (text: string) => `${field('reasoning', 'As the map says.')}\n\n${field('answer', text)}`;
  const kept = (text: string) => `${field('answer', text)}\n\n${field('rating', 'good')}`;
  const question = said('user', field('question', 'Which way?'));
  const again = (text: string, before = question) =>
    chat(
      said('system', 'Answer.'),
      before,
      said('assistant', kept(text)),
      said('user', field('question', 'And back?')),
    );
  const first = chat(said('system', 'Answer.'), question);

  it('is known by a line of it, after the same question', ({ call, identify }) => {
    const { program } = call(first, answer(full(OTHER)));
    expect(identify(again(OTHER))).toMatchObject({ program, source: 'history' });
    expect(identify(again(OTHER, said('user', 'Another question?'))).source).toBe('none');
    expect(identify(again(WORDS)).source).toBe('none');
  });

  it('is nobody’s if two programs got it', ({ call, identify }) => {
    for (let i = 0; i < 2; i += 1) call(first, answer(full(OTHER)));
    expect(identify(again(OTHER)).source).toBe('none');
  });
});

describe('a conversation that the engine keeps (previous_response_id)', () => {
  const path = '/v1/responses';
  const TASK = 'Find out how the weather will be in the valley.';
  const calls = (input: string, id: string, response: string) => ({
    id: response,
    output: [{ type: 'function_call', call_id: id, name: 'ask_expert', arguments: JSON.stringify({ input }) }],
  });
  const result = (id: string) => [{ type: 'function_call_output', call_id: id, output: 'sun' }];

  it('has sub-agents in every turn, which are threads of its program', ({ call, identify }) => {
    const { program } = call({ path, body: { input: 'Plan a walk.' } }, calls(`${TASK} First.`, 'c1', 'r1'));
    const goOn = (id: string, before: string) => ({ path, body: { input: result(id), previous_response_id: before } });
    expect(identify({ path, body: { input: `${TASK} First.` } }).program).toBe(program);
    call(goOn('c1', 'r1'), calls(`${TASK} Second.`, 'c2', 'r2'));
    expect(identify({ path, body: { input: `${TASK} First.` } }).source).toBe('none');
    const sub = identify({ path, body: { input: `${TASK} Second.` } });
    expect(sub).toMatchObject({ program, source: 'history' });
    expect(sub.thread).toMatch(/^ask_expert-/);
    call(goOn('c2', 'r2'), { id: 'r3', output: [] });
    expect(identify({ path, body: { input: `${TASK} Second.` } }).source).toBe('none');
  });

  it('asks for no answers where answers are not kept', () => {
    const { call } = createCaller({ sources: ['body'] });
    call({ path, body: { input: 'Plan a walk.' } }, calls(TASK, 'c1', 'r1'));
    const next = call({ path, body: { input: result('c1'), previous_response_id: 'r1' } }, { id: 'r2', output: [] });
    expect(next).toMatchObject({ source: 'previous_response_id' });
  });
});

describe('a task that a client fills into a template (delegation of CrewAI)', () => {
  const CONTEXT = 'The journey matters, and time is short.';
  const delegates = (task: string, context = '') => ({
    content: null,
    tool_calls: [
      { id: `call_${task}`, type: 'function', function: { name: 'ask', arguments: JSON.stringify({ task, context }) } },
    ],
  });
  const taskOf = (i: number) => `Find the weather of the mountains for the journey number ${i}.`;
  const sub = (i: number) =>
    chat(said('user', `\nCurrent Task: ${taskOf(i)}\n\nThis is the context:\n${CONTEXT}`), said('user', 'Begin.'));
  const leads = (n: number) => {
    const { call, identify } = createCaller();
    const programs = Array.from(
      { length: n },
      (_, i) => call(chat(said('user', `Journey ${i}.`)), answer(null, delegates(taskOf(i), CONTEXT))).program,
    );
    return { programs, call, identify };
  };

  it('is told apart by the task, where all pass on one context too', () => {
    const { programs, identify } = leads(20);
    expect(programs.map((_, i) => identify(sub(i)).program)).toEqual(programs);
  });

  it('is nobody’s if its texts belong to several programs, or one of several passed only a part of them', () => {
    const { identify, call } = leads(2);
    const both = chat(said('user', `${taskOf(0)}\n${taskOf(1)}`));
    expect(identify(both).source).toBe('none');
    const third = call(chat(said('user', 'Another journey.')), answer(null, delegates(taskOf(0)))).program;
    expect(identify(sub(0)).program).not.toBe(third);
  });
});

describe('two texts of which each is a part of the other’s program', () => {
  it('name the one program that gave both', ({ call, identify }) => {
    call(chat(said('user', 'One.')), answer(WORDS));
    const { program } = call(chat(said('user', 'Two.')), answer(WORDS));
    const own = [said('user', 'Two.'), said('assistant', WORDS), said('user', 'On.')];
    expect(call(chat(...own), answer(OTHER)).program).toBe(program);
    const printed = chat(said('user', `Summarise this.\n\nAI: ${WORDS}\nHuman: On.\nAI: ${OTHER}`));
    expect(identify(printed).program).toBe(program);
  });
});
