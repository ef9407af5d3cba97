import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { ROOT } from '../../support/tree.js';
import type { SetName } from './installs.js';
import { installOf, makeFolder, runClient, startStage, type Run, type Stage } from './stage.js';

/**
 * Teams of agents in real frameworks, several runs at once, which send nothing that names a run: each run must be one
 * program, with its sub-agents, hand-offs, plans and summaries. The key of each run tells which calls are its own.
 */
const TEAMS = join(ROOT, 'test/slow/clients/teams');
/** Runs at once, in lockstep. */
const RUNS = Number(process.env['TEST_RUNS'] ?? 8);
/** Calls of each agent to its tools, and of the leader to its sub-agents. */
const ROUNDS = 2;

type Messages = Parameters<Script>[0];
type Tool = Parameters<Script>[1][number];

/** The run that the conversation belongs to: its task says so, and every task that is passed on. */
const runOf = (messages: Messages): string => /number (\d+)/.exec(textOf(messages))?.[1] ?? '?';
const textOf = (messages: Messages): string => messages.map(({ text }) => text).join('\n');
const isResult = ({ role, text }: Messages[number]) => role === 'tool' || text.startsWith('Observation:');

function resultsOfTurn(messages: Messages): number {
  const turn = messages.findLastIndex((message) => message.role === 'user' && !isResult(message));
  return messages.slice(turn + 1).filter(isResult).length;
}

/** A text that no other call gets. */
const words = (messages: Messages): string =>
  `It will be sunny for the whole of the journey number ${runOf(messages)}, as ${messages.length} messages of ${textOf(messages).length} letters say.`;

/** Arguments that pass a text on to an agent, by the names that frameworks give them. */
function passing({ parameters }: Tool, text: string): string {
  const { properties = {}, required = [] } = parameters as {
    properties?: Record<string, { type?: string; enum?: string[] }>;
    required?: string[];
  };
  const given = Object.entries(properties)
    .filter(([name]) => required.includes(name) || name === 'input')
    .map(([name, { enum: choices }]): [string, string] => {
      if (/agent|coworker|member_id/.test(name)) return [name, choices?.[0] ?? 'expert'];
      return [name, name === 'context' || name === 'reason' ? 'The journey matters, and time is short.' : text];
    });
  return JSON.stringify(Object.fromEntries(given));
}

const FINAL = /final_answer/;
/** Tools of frameworks themselves, which no agent here uses. */
const OWN = /^(?:write_todos|ls|read_file|write_file|edit_file|glob|grep|execute)$/;

/** Asks for the weather, or passes on a task, two times in each turn, and then answers. */
const work: Script = (messages, tools) => {
  const results = resultsOfTurn(messages);
  const final = tools.find(({ name }) => FINAL.test(name));
  const others = tools.filter(({ name }) => !FINAL.test(name) && !OWN.test(name));
  const [tool] = others.filter(({ name }) => name === 'get_weather').concat(others);
  if (tool && results < ROUNDS) {
    const place = `the valley ${results} of the journey number ${runOf(messages)}`;
    const given =
      tool.name === 'get_weather'
        ? JSON.stringify({ city: place })
        : passing(tool, `Find out how the weather is in ${place}.`);
    return { tool_calls: [{ name: tool.name, arguments: given }] };
  }
  return final
    ? { tool_calls: [{ name: final.name, arguments: passing(final, words(messages)) }] }
    : { content: words(messages) };
};

const react: Script = (messages) =>
  resultsOfTurn(messages) < ROUNDS
    ? {
        content: `Thought: I need to use a tool to help me answer the question.\nAction: get_weather\nAction Input: {"city": "valley ${resultsOfTurn(messages)} of ${runOf(messages)}"}`,
      }
    : { content: `Thought: I can answer without using any more tools.\nAnswer: ${words(messages)}` };

const json: Script = (messages, [tool]) => {
  const given = JSON.stringify({ chat_message: words(messages) });
  return tool ? { tool_calls: [{ name: tool.name, arguments: given }] } : { content: given };
};

const fields: Script = (messages) => ({
  content: `[[ ## reasoning ## ]]\nThe forecast says so.\n\n[[ ## answer ## ]]\n${words(messages)}\n\n[[ ## completed ## ]]`,
});

function python(set: SetName, file: string, kind: string, url: string, skip: (reason: string) => never): Run {
  const command = join(installOf(set, skip), 'bin/python');
  const args = [join(TEAMS, file), url, String(RUNS), kind];
  return { command, args, env: { PYTHONPATH: TEAMS, OPENAI_API_KEY: 'none', LITELLM_LOCAL_MODEL_COST_MAP: 'True' } };
}

/** How the gateway's programs agree with the runs, by the key that each request had. */
async function expectRuns(stage: Stage): Promise<void> {
  const answers = stage.answers();
  const pairs = stage
    .requests()
    .map(({ headers }, i) => `${headers['authorization']} ${answers[i]?.headers['x-maitred-program']}`);
  const calls = pairs.length / RUNS;
  expect(new Set(pairs).size).toBe(RUNS);
  expect(await stage.programs()).toMatchObject(Array.from({ length: RUNS }, () => ({ calls, active_calls: 0 })));
}

describe(`${RUNS} runs at once are ${RUNS} programs, by their conversations alone, in`, () => {
  it.for([
    ['openai-agents, agents as tools', 'openai', 'openai/agents_run.py', '', work],
    ['openai-agents, the same over responses', 'openai', 'openai/agents_run.py', 'responses', work],
    ['openai-agents, hand-offs', 'openai', 'openai/agents_run.py', 'handoff', work],
    ['pydantic-ai, an agent in a tool', 'openai', 'openai/pydantic_run.py', '', work],
    ['smolagents, a managed agent', 'agents', 'smol_run.py', '', work],
    ['smolagents, with plans', 'agents', 'smol_run.py', 'plan', work],
    ['dspy, a History with other fields', 'agents', 'dspy_run.py', '', fields],
    ['deepagents, a sub-agent', 'langchain', 'langchain/deep_run.py', '', work],
    ['langgraph-supervisor', 'langchain', 'langchain/supervisor_run.py', '', work],
    ['LangChain, summaries', 'langchain', 'langchain/summary_run.py', '', work],
    ['agent-framework, an agent as a tool', 'microsoft', 'microsoft/framework_run.py', '', work],
    ['agent-framework, stored responses', 'microsoft', 'microsoft/framework_run.py', 'responses', work],
    ['LlamaIndex, an agent in a tool', 'llama', 'llama/llama_run.py', '', work],
    ['LlamaIndex, AgentWorkflow', 'llama', 'llama/llama_run.py', 'workflow', work],
    ['LlamaIndex, ReAct', 'llama', 'llama/llama_run.py', 'react', react],
    ['Strands, an agent in a tool', 'others', 'others/strands_run.py', '', work],
    ['agno, a team', 'others', 'others/agno_run.py', '', work],
    ['AutoGen, an agent as a tool', 'others', 'others/autogen_run.py', '', work],
    ['AutoGen, a team in turn', 'others', 'others/autogen_run.py', 'team', work],
    ['atomic-agents, tools', 'atomic', 'atomic/atomic_run.py', '', json],
    ['atomic-agents, JSON', 'atomic', 'atomic/atomic_run.py', 'json', json],
    ['ADK, an agent as a tool', 'adk', 'adk/adk_run.py', '', work],
    ['CrewAI, delegation', 'crewai', 'crewai/crew_run.py', '', work],
  ] as const)('%s', async ([, set, file, kind, script], { skip }) => {
    const stage = await startStage(script);
    expect((await runClient(python(set, file, kind, stage.url, skip))).trim()).toMatch(/done$/);
    await expectRuns(stage);
  });

  it.for(['', 'stream'])('AI SDK, an agent in a tool %s', async (kind, { skip }) => {
    const folder = makeFolder();
    symlinkSync(join(installOf('node', skip), 'node_modules'), join(folder, 'node_modules'));
    copyFileSync(join(TEAMS, 'ai_sdk_run.mjs'), join(folder, 'run.mjs'));
    const stage = await startStage(work);
    const args = [join(folder, 'run.mjs'), stage.url, String(RUNS), kind];
    expect((await runClient({ command: process.execPath, args })).trim()).toBe('done');
    await expectRuns(stage);
  });
});
