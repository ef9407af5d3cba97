import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { ROOT } from '../../support/tree.js';
import { installOf, makeFolder, runClient, startStage, type Stage } from './stage.js';

/**
 * Clients without identity that change our answers before they send them back. Two concurrent runs must be two
 * programs.
 */
const AGENTS = join(ROOT, 'test/slow/clients/agents');
const TASKS = ['What is the weather in Rome?', 'What is the weather in Oslo?'];

async function expectPrograms(stage: Stage, calls: number): Promise<void> {
  expect(await stage.programs()).toMatchObject(TASKS.map(() => ({ calls, active_calls: 0 })));
}

const count = (text: string, part: string) => text.split(part).length - 1;

const callTools: Script = (messages) => {
  const step = messages.filter(({ role, text }) => role === 'user' && text.includes('Observation:')).length;
  if (step === 3) return { tool_calls: [{ name: 'final_answer', arguments: '{"answer":"sun"}' }] };
  return { tool_calls: [{ name: 'get_weather', arguments: JSON.stringify({ city: `city ${step} – “é”` }) }] };
};

const writeCode: Script = (messages) => {
  const step = messages.filter(({ role, text }) => role === 'user' && text.includes('Observation:')).length;
  const code = step === 3 ? 'final_answer("sun")' : `print(${step})`;
  return { content: `Thought: Step ${step}.\n<code>\n${code}\n` };
};

const react: Script = (messages) => {
  const asked = messages.at(-1)?.text ?? '';
  if (!asked.includes('next_thought'))
    return { content: '[[ ## reasoning ## ]]\nAll say so.\n\n[[ ## answer ## ]]\nsun\n\n[[ ## completed ## ]]' };
  const step = count(asked, '[[ ## observation_');
  const [name, given] = step === 3 ? ['finish', '{}'] : ['get_weather', `{"city": "${step}"}`];
  const fields = [`next_thought ## ]]\nI should ask for city number ${step}.`, `next_tool_name ## ]]\n${name}`];
  return {
    content: [...fields, `next_tool_args ## ]]\n${given}`, 'completed ## ]]']
      .map((field) => `[[ ## ${field}`)
      .join('\n\n'),
  };
};

const edit: Script = (messages) => {
  const all = messages.map(({ text }) => text).join('\n');
  if (!all.includes('SEARCH/REPLACE')) return { content: 'feat: change f' };
  const city = all.includes('Rome') ? 'Rome' : 'Oslo';
  const step = messages.filter(({ role, text }) => role === 'assistant' && text.includes('I change f')).length + 1;
  const block = `<<<<<<< SEARCH\n    return ${step}\n=======\n    return ${step + 1}\n>>>>>>> REPLACE`;
  return {
    content: `I change f for ${city} so that it returns ${step + 1}, as the command wants.\n\nf.py\n\`\`\`python\n${block}\n\`\`\``,
  };
};

describe('without identity, each of two runs at once is one program of', () => {
  it.for([
    ['smolagents’ ToolCallingAgent', 'smol.py', ['ToolCallingAgent'], callTools, 4],
    ['smolagents’ CodeAgent', 'smol.py', ['CodeAgent'], writeCode, 4],
    ['dspy’s ReAct', 'react.py', [], react, 5],
  ] as const)('%s', async ([, file, args, script, calls], { skip }) => {
    const command = join(installOf('agents', skip), 'bin/python');
    const stage = await startStage(script);
    const runs = TASKS.map((task) => runClient({ command, args: [join(AGENTS, file), stage.url, task, ...args] }));
    expect((await Promise.all(runs)).map((printed) => printed.trim())).toEqual(['sun', 'sun']);
    await expectPrograms(stage, calls);
  });

  it('aider: three edits and their commit messages', async ({ skip }) => {
    const folder = installOf('aider', skip);
    const stage = await startStage(edit);
    const flags = '--model openai/llama-3.1-8b --edit-format diff --yes-always --no-check-update --analytics-disable';
    const quiet = '--no-show-model-warnings --map-tokens 0 --auto-test --test-cmd';
    await Promise.all(
      TASKS.map(async (task) => {
        const cwd = makeFolder();
        const git = (...args: string[]) => execFileSync('git', args, { cwd });
        writeFileSync(join(cwd, 'f.py'), 'def f():\n    return 1\n');
        git('init', '-q');
        git('config', 'user.email', 'a@example.com');
        git('config', 'user.name', 'a');
        git('add', 'f.py');
        git('commit', '-qm', 'Begin');
        const told = ['grep -q "return 4" f.py', '--message', `Change f. ${task}`, 'f.py'];
        const args = [...`${flags} ${quiet}`.split(' '), ...told];
        const env = {
          OPENAI_API_BASE: `${stage.url}/v1`,
          OPENAI_API_KEY: 'none',
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        };
        await runClient({ command: join(folder, 'bin/aider'), args, env, cwd });
      }),
    );
    await expectPrograms(stage, 6);
  });
});
