import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { configure, installOf, makeFolder, runClient, startStage, watchThreads } from './stage.js';

const CHILD_TASK = 'Write what the child has to write.';
const use = (name: string, args: object) => ({ tool_calls: [{ name, arguments: JSON.stringify(args) }] });
/** In progress long enough for the admin API to show it. */
const write = (line: string) => ({
  ...use('bash', { command: `echo ${line} >> log.txt`, description: 'Adds a line' }),
  output_tokens: 1000,
});

/** The root writes, delegates a task to a child session, and writes again; the child writes twice. */
const handOver: Script = (messages, tools) => {
  if (tools.length === 0) return { content: 'A title' };
  const results = messages.filter(({ role }) => role === 'tool').length;
  if (messages.some(({ role, text }) => role === 'user' && text.includes(CHILD_TASK))) {
    return results < 2 ? write(`child ${results}`) : { content: 'The child is done.' };
  }
  switch (results) {
    case 0:
      return write('root 0');
    case 1:
      return use('task', { description: 'A child task', prompt: CHILD_TASK, subagent_type: 'general' });
    case 2:
      return write('root 1');
    default:
      return { content: 'All is done.' };
  }
};

describe('OpenCode', () => {
  it('has its child sessions as threads of the root session', async ({ skip }) => {
    const opencode = join(installOf('harness', skip), 'node_modules/opencode-ai/bin/opencode.exe');
    const stage = await startStage(handOver);
    const work = makeFolder();
    configure('opencode/opencode.json', stage.url, join(work, 'opencode.json'));
    const run = runClient({
      command: opencode,
      args: ['run', 'Do the task.'],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
      cwd: work,
    });
    const threads = await watchThreads(stage, run);
    expect(await run).toContain('All is done.');
    expect(readFileSync(join(work, 'log.txt'), 'utf8').trim().split('\n')).toEqual([
      'root 0',
      'child 0',
      'child 1',
      'root 1',
    ]);

    // Four calls of the root, three of the child, and one for the root's title.
    const programs = await stage.programs();
    expect(programs).toMatchObject([{ calls: 8, active_calls: 0 }]);
    const id = programs[0]!.id;
    const calls = await stage.end();
    const child = calls.find(({ thread }) => thread !== undefined)?.thread;
    expect(child).toMatch(/^ses_/);
    expect(threads).toEqual(new Map([[id, new Set(['', child])]]));
    expect(calls.filter(({ thread }) => thread === child)).toHaveLength(3);
    const call = { program: id, identified_by: 'x-session-id', api: 'chat', stream: true, outcome: 'completed' };
    expect(calls).toMatchObject(Array(8).fill(call));
  });
});
