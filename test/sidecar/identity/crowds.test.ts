import { describe, expect } from 'vitest';
import { replay, type Engine, type Run } from './replay.js';
import { answer, chat, createCaller, it, said } from './caller.js';
import type { JsonObject } from '../../../sidecar/apis/index.js';
import { spread } from './spread.js';

/** Words with which the answers of an agent begin, in every run. */
const PHRASE = 'Thought: I need to use a tool to help me answer the question.';
const CALLS = 8;
/** More than a mark has seats. */
const RUNS = 80;
const ALL_APART = { programs: RUNS, precision: 1, recall: 1 };

type Ids = 'random' | 'hashed' | 'kimi' | 'counted' | 'absent' | 'text';

let random = 0;
const idOf: Record<Ids, (run: number, call: number) => string | undefined> = {
  random: () => `call_${(random += 1).toString(36).padStart(16, 'x')}`,
  hashed: (_run, call) => `call_${String(call).padStart(16, '0')}`,
  kimi: (_run, call) => `functions.bash:${call}`,
  counted: (_run, call) => `call_${call}`,
  absent: () => undefined,
  text: () => undefined,
};

/** Answers that begin alike in all runs, and then differ or not. */
const engineOf =
  (ids: Ids, own: (run: number, call: number) => boolean): Engine =>
  (run, call) => {
    const what = own(run, call) ? `${run}.${call}` : `${call}`;
    if (ids === 'text') return said('assistant', `${PHRASE}\nAction: bash\nAction Input: {"at": "${what}"}`);
    const id = idOf[ids](run, call);
    const call0 = {
      ...(id !== undefined && { id }),
      type: 'function',
      function: { name: 'bash', arguments: `{"command": "look at the part ${what} of it"}` },
    };
    return { role: 'assistant', content: PHRASE, tool_calls: [call0] };
  };

type Form = 'whole' | 'cut' | 'clock' | 'compacted';
let clock = 0;

/** A client that keeps its history in one of these forms. */
function* agent(task: string, form: Form): Run {
  const first = () => [said('system', form === 'clock' ? `It is ${(clock += 1)}.` : 'You help.'), said('user', task)];
  let turns: JsonObject[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const message: JsonObject = yield { body: { messages: [...first(), ...turns] } };
    const calls = (message['tool_calls'] as { id?: string }[] | undefined) ?? [];
    turns.push(
      message,
      calls.length > 0
        ? { role: 'tool', tool_call_id: calls[0]!.id, content: 'sun' }
        : said('user', 'Observation: sun'),
    );
    if (form === 'cut') turns = turns.slice(-4);
    if (form === 'compacted' && call === 4) {
      const summary: JsonObject = yield { body: { messages: [...first(), ...turns, said('user', 'Summarise.')] } };
      turns = [said('user', `This is a summary of the work:\n\n${String(summary['content'])}`)];
    }
  }
}

const summaries =
  (engine: Engine): Engine =>
  (run, call) =>
    call === 5
      ? said('assistant', `The task of the run ${run} is half done. Its first five parts were looked at.`)
      : engine(run, call);

const scoreOf = (
  runs: readonly Run[],
  engine: Engine,
  identifier: ReturnType<typeof spread> = createCaller({ conversationsMax: 100_000 }).identifier,
) => {
  const { programs, precision, recall } = replay(runs, engine, false, () => identifier);
  return { programs, precision, recall };
};

const IDS: Ids[] = ['random', 'hashed', 'kimi', 'counted', 'absent', 'text'];
const FORMS: Form[] = ['whole', 'cut', 'clock', 'compacted'];

describe(`${RUNS} runs in lockstep whose answers begin alike`, () => {
  const rows = IDS.flatMap((ids) => FORMS.map((form) => [ids, form] as const));
  it.each(rows)('are a program each with %s ids and a history that is %s', (ids, form) => {
    const runs = Array.from({ length: RUNS }, (_, i) => agent(`Do the task ${i}.`, form));
    const engine = engineOf(ids, () => true);
    expect(scoreOf(runs, form === 'compacted' ? summaries(engine) : engine)).toEqual(ALL_APART);
  });

  it.each(FORMS.slice(0, 3))('are a program each with random ids and equal words, in a history that is %s', (form) => {
    const runs = Array.from({ length: RUNS }, () => agent('Do it.', form));
    expect(
      scoreOf(
        runs,
        engineOf('random', () => false),
      ),
    ).toEqual(ALL_APART);
  });

  it('are the right number of programs where nothing tells them apart', () => {
    const runs = Array.from({ length: RUNS }, () => agent('Do it.', 'whole'));
    expect(
      scoreOf(
        runs,
        engineOf('kimi', () => false),
      ).programs,
    ).toBe(RUNS);
  });
});

describe(`${RUNS} runs in lockstep at three gateways, each call at one by chance`, () => {
  const kinds = ['random', 'hashed', 'counted'] as const;
  it.each(kinds.flatMap((ids) => FORMS.map((form) => [ids, form] as const)))(
    'are a program each: %s ids, %s',
    (ids, form) => {
      const runs = Array.from({ length: RUNS }, (_, i) => agent(`Do the task ${i}.`, form));
      const engine = engineOf(ids, () => true);
      const { precision, ...score } = scoreOf(runs, form === 'compacted' ? summaries(engine) : engine, spread(3));
      expect(precision).toBe(1);
      // A summary inside of a message is known to its own gateway alone.
      if (form !== 'compacted') expect(score).toEqual({ programs: RUNS, recall: 1 });
    },
  );
});

describe('agents one after another, with a clock in the system prompt', () => {
  const ids: readonly Ids[] = ['kimi', 'text'];
  it.each(ids)('are a program each, be they thousands, with %s ids', (kind) => {
    const engine = engineOf(kind, () => true);
    const { call } = createCaller({ conversationsMax: 100_000 });
    const programs = new Set<string>();
    for (let run = 0; run < 2000; run += 1) {
      const going = agent(`Do the task ${run}.`, 'clock');
      let sent = going.next().value;
      for (let step = 0; step < 4 && sent; step += 1) {
        const message = engine(run, step);
        programs.add(call(sent, { choices: [{ message }] }).program);
        sent = going.next(message).value ?? undefined;
      }
    }
    expect(programs.size).toBe(2000);
  });

  it('are told apart by equal answers again once the crowd of equal ones is over', ({ call, identify, identifier }) => {
    const words = `${PHRASE} It is always the same tool, and always the same words.`;
    const begin = (system: string) => [said('system', system), said('user', 'Go.')];
    const start = (system: string) => call(chat(...begin(system)), answer(words)).program;
    const goOn = (system: string) => identify(chat(...begin(system), said('assistant', words), said('user', 'On.')));
    const crowd = Array.from({ length: 90 }, (_, i) => start(`It is ${i}.`));
    expect(goOn('It is late.').source).toBe('none');
    for (const program of crowd) identifier.ended(program);
    const own = start('It is 100.');
    expect(goOn('It is 101.').program).toBe(own);
  });
});

/** A manager with two sub-agents of two calls each, one after another. */
function* manager(run: string): Run {
  const messages = [said('system', 'You plan.'), said('user', `Plan the journey ${run}.`)];
  for (const part of ['north', 'south']) {
    const message: JsonObject = yield { body: { messages: [...messages] } };
    const [call] = message['tool_calls'] as { id: string; function: { arguments: string } }[];
    const { task } = JSON.parse(call!.function.arguments) as { task: string };
    const own = [said('system', `You know the ${part}.`), said('user', `Your task:\n${task}`)];
    for (let step = 0; step < 2; step += 1) {
      const reply: JsonObject = yield { body: { messages: [...own] } };
      own.push(reply, said('user', 'Go on.'));
    }
    messages.push(message, { role: 'tool', tool_call_id: call!.id, content: 'sun' });
  }
}

describe('managers in lockstep, with sub-agents', () => {
  const delegating =
    (task: (run: number, call: number) => string): Engine =>
    (run, call) => {
      const weather = `It is sunny in the part ${run}.${call}, and remains so for the whole of the next week.`;
      if (call % 3 !== 0) return said('assistant', weather);
      const ask = { name: 'ask', arguments: JSON.stringify({ task: task(run, call) }) };
      const tool_calls = [{ id: idOf.random(run, call)!, type: 'function', function: ask }];
      return { role: 'assistant', content: null, tool_calls };
    };
  const runs = (n: number, name: (i: number) => string) => Array.from({ length: n }, (_, i) => manager(name(i)));

  it.each([1, 3])(
    'are a program each with tasks of their own, each call at one of %i gateways by chance',
    (gateways) => {
      const engine = delegating((run, call) => `Find a way for the journey ${run}, part ${call}.`);
      const identifier = gateways > 1 ? spread(gateways) : undefined;
      expect(scoreOf(runs(RUNS, String), engine, identifier)).toEqual(ALL_APART);
    },
  );

  it('take no sub-agent of each other if all pass on one task', () => {
    const together = runs(8, () => 'home');
    expect(
      scoreOf(
        together,
        delegating(() => 'Find a way for the journey home.'),
      ).precision,
    ).toBe(1);
  });
});
