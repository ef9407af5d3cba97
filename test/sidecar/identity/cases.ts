import type { JsonObject } from '../../../sidecar/apis/index.js';
import { Identifier } from '../../../sidecar/identity/index.js';
import { makeRandom } from '../../../bench/numbers.js';
import { replay, type Engine, type Run, type Score } from './replay.js';
import { aider, askOf, dspyReact, itemLoop, loop, smolCode, smolTools, withExamples } from './shapes.js';

/** Concurrent runs of a client, and the programs that they are. */
interface Case {
  readonly client: string;
  readonly runs: () => readonly Run[];
  readonly engine: Engine;
  /** Present if all runs are one program. */
  readonly programs?: 1;
}

const SOURCES = ['maitred', 'harness', 'body', 'baggage', 'history'] as const;
const SESSION = '7f0c9a52-3d5e-4c3b-9c1e-0a1b2c3d4e5f';
const DOCUMENT = 'A line of a long document, which all of them ask about.\n'.repeat(50);
const EXAMPLE = 'A worked example of an answer, which is as long as answers usually are and a little longer.';
const times = (n: number, run: (i: number) => Run) => (): readonly Run[] => Array.from({ length: n }, (_, i) => run(i));
const random = makeRandom(1);
const newId = (): string =>
  `call_${Math.floor(random() * 2 ** 32).toString(16)}${Math.floor(random() * 2 ** 32).toString(16)}`;
const calling = (count: number, content: string | null = null): JsonObject => ({
  role: 'assistant',
  content,
  tool_calls: Array.from({ length: count }, (_, i) => ({
    id: newId(),
    type: 'function',
    function: { name: 'get_weather', arguments: `{"city":"city ${i}"}` },
  })),
});
const saying = (content: string): JsonObject => ({ role: 'assistant', content });

/** Always the same tool calls, each with its own id, then the same words. */
const alike =
  (rounds: number, parallel = 1, words: string | null = null): Engine =>
  (_run, call) =>
    call % (rounds + 1) < rounds ? calling(parallel, words) : saying('It is sunny.');
const edits: Engine = (run, call) =>
  saying(
    call % 2 === 1
      ? 'feat: change f'
      : `I will change the function in edit ${call} of the work on part ${run}, as you asked.\n\nf.py\n<<<<<<< SEARCH\n    return ${call}\n=======`,
  );
const thoughts: Engine = (_run, call) =>
  saying(
    `[[ ## next_thought ## ]]\nI should ask for city number ${call}.\n\n[[ ## next_tool_name ## ]]\nget_weather\n\n[[ ## next_tool_args ## ]]\n{"city": "${call}"}\n\n[[ ## completed ## ]]`,
  );
const code: Engine = (_run, call) => saying(`Thought: I shall print step ${call}.\n<code>\nprint(${call})\n`);
const task = (i: number) => `What is the weather of task ${i}?`;
const withText = (message: JsonObject): JsonObject => ({
  ...message,
  content: [{ type: 'text', text: message['content'] ?? '' }],
});
const withoutText = (message: JsonObject): JsonObject => ({ ...message, content: message['content'] ?? '' });
const reasoning = (message: JsonObject): JsonObject => ({
  ...message,
  reasoning_content: 'hm',
  content: message['content'] ?? null,
});

export const CASES: readonly Case[] = [
  ...[24, 48, 96].map((n) => ({
    client: `${n} rollouts of one prompt`,
    runs: times(n, () => loop('Solve it.', { more: 0 })),
    engine: alike(5),
  })),
  { client: 'two turns of equal text', runs: times(8, () => loop('What is the weather?')), engine: alike(3) },
  { client: 'aider', runs: times(2, (i) => aider(`return ${i + 2}`)), engine: edits },
  { client: 'smolagents ToolCallingAgent', runs: times(2, (i) => smolTools(task(i))), engine: alike(3) },
  { client: 'the same, one task', runs: times(8, () => smolTools(task(0))), engine: alike(3) },
  { client: 'smolagents CodeAgent', runs: times(2, (i) => smolCode(task(i))), engine: code },
  { client: 'dspy ReAct', runs: times(2, (i) => dspyReact(task(i))), engine: thoughts },
  {
    client: 'dspy ReAct, one task, own thoughts',
    runs: times(8, () => dspyReact(task(0))),
    engine: (run, call) => saying(String(thoughts(run, call)['content']).replace('city', `city of run ${run},`)),
  },
  {
    client: 'a constant prompt_cache_key',
    runs: times(5, (i) => loop(task(i), { fields: { prompt_cache_key: 'my-app-v3' } })),
    engine: alike(3),
  },
  {
    client: 'a prompt_cache_key for each run',
    runs: times(5, (i) => loop(task(0), { fields: { prompt_cache_key: `ses_${i}` } })),
    engine: () => saying('It is sunny.'),
  },
  {
    client: 'Codex behind a proxy: 6 sub-agents at once',
    runs: times(6, (i) => loop(task(i), { fields: { prompt_cache_key: SESSION } })),
    engine: alike(3),
    programs: 1,
  },
  {
    client: 'strangers with one document',
    runs: times(20, (i) => askOf(DOCUMENT, task(i))),
    engine: () => saying(DOCUMENT),
  },
  {
    client: 'strangers with one example',
    runs: times(20, (i) => withExamples(task(i), EXAMPLE)),
    engine: () => saying(EXAMPLE),
  },
  { client: 'pydantic-ai, autogen, ag2', runs: times(2, (i) => loop(task(i))), engine: alike(3) },
  {
    client: 'qwen-code, AI SDK (text, parallel calls)',
    runs: times(4, () => loop(task(0), { back: reasoning })),
    engine: alike(3, 2, 'Let me look.'),
  },
  {
    client: 'langgraph (content as a string)',
    runs: times(2, (i) => loop(task(i), { back: withoutText })),
    engine: alike(3),
  },
  {
    client: 'Continue, content as parts',
    runs: times(2, (i) => loop(task(i), { back: withText })),
    engine: alike(3, 1, 'Let me look.'),
  },
  { client: 'openai-agents, langgraph (responses)', runs: times(2, (i) => itemLoop(task(i))), engine: alike(3) },
  { client: 'LiteLLM proxy, headers lost', runs: times(9, (i) => loop(task(i), { more: 0 })), engine: alike(3) },
  {
    client: 'AIPerf, equal text',
    runs: times(3, (i) => loop(task(0), { headers: { 'x-session-affinity': `s${i}` } })),
    engine: alike(0),
  },
  {
    client: 'inference-perf',
    runs: times(6, (i) => loop(task(0), { headers: { 'x-session-id': `conv_${i}` } })),
    engine: alike(0),
  },
];

export function scoreOf({ runs, engine, programs }: Case): Score {
  let ids = 0;
  return replay(
    runs(),
    engine,
    programs === 1,
    (active) =>
      new Identifier({
        sources: SOURCES,
        conversationsMax: 100_000,
        responsesMax: 1000,
        reuseMs: 120_000,
        activityOf: (program) => ({ activeCalls: active(program), idleMs: 0 }),
        newId: () => String(++ids),
      }),
  );
}
