import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { configure, installOf, makeFolder, runClient, startStage } from './stage.js';

const COMMANDS = [
  'echo one >> log.txt',
  'echo two >> log.txt',
  'cat log.txt',
  'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT',
];

const work: Script = (messages) => {
  const command = COMMANDS[messages.filter(({ role }) => role === 'tool').length]!;
  return { content: 'THOUGHT: On with it.', tool_calls: [{ name: 'bash', arguments: JSON.stringify({ command }) }] };
};

async function runMini(folder: string, url: string) {
  const cwd = makeFolder();
  const config = join(cwd, 'maitred.yaml');
  configure('mini-swe-agent/maitred.yaml', url, config);
  const flags = ['-y', '--exit-immediately', '-c', 'mini.yaml', '-c', config, '-o', 'trajectory.json'];
  await runClient({
    command: join(folder, 'bin/mini'),
    args: [...flags, '-t', 'Write two lines.'],
    env: { MSWEA_CONFIGURED: 'true', MSWEA_SILENT_STARTUP: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    cwd,
  });
  const { info } = JSON.parse(readFileSync(join(cwd, 'trajectory.json'), 'utf8')) as { info: { exit_status: string } };
  return { status: info.exit_status, log: readFileSync(join(cwd, 'log.txt'), 'utf8') };
}

describe('mini-swe-agent', () => {
  it.for([1, 3])('sends no identity, yet each of %i with the same task is one program', async (agents, { skip }) => {
    const folder = installOf('mini', skip);
    const stage = await startStage(work);
    const runs = await Promise.all(Array.from({ length: agents }, () => runMini(folder, stage.url)));
    expect(runs).toEqual(Array(agents).fill({ status: 'Submitted', log: 'one\ntwo\n' }));
    expect(await stage.programs()).toMatchObject(Array(agents).fill({ calls: COMMANDS.length, active_calls: 0 }));
    const calls = await stage.end();
    const rest = Array<string>(agents * (COMMANDS.length - 1)).fill('history');
    expect(calls.map((call) => call.identified_by).sort()).toEqual([...rest, ...Array<string>(agents).fill('none')]);
    expect(
      calls.every(({ api, thread, outcome }) => api === 'chat' && thread === undefined && outcome === 'completed'),
    ).toBe(true);
  });
});
