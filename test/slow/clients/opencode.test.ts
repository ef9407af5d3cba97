import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import {
  CHILD_TASK,
  configure,
  installOf,
  isChild,
  makeFolder,
  runClient,
  startStage,
  use,
  watchThreads,
} from './stage.js';

/** In progress long enough for the admin API to show it. */
const write = (line: string) => ({
  ...use('bash', { command: `echo ${line} >> log.txt`, description: 'Adds a line' }),
  output_tokens: 1000,
});

/** The root writes, delegates a task to a child session, and writes again; the child writes twice. */
const handOver: Script = (messages, tools) => {
  if (tools.length === 0) return { content: 'A title' };
  const results = messages.filter(({ role }) => role === 'tool').length;
  if (isChild(messages)) return results < 2 ? write(`child ${results}`) : { content: 'The child is done.' };
  const task = use('task', { description: 'A child task', prompt: CHILD_TASK, subagent_type: 'general' });
  return [write('root 0'), task, write('root 1')][results] ?? { content: 'All is done.' };
};

describe('OpenCode', () => {
  it('has its child sessions as threads of the root session', async ({ skip }) => {
    const opencode = join(installOf('harness', skip), 'node_modules/opencode-ai/bin/opencode.exe');
    const stage = await startStage(handOver);
    const work = makeFolder();
    configure('opencode/opencode.json', stage.url, join(work, 'opencode.json'));
    const env = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
    const run = runClient({ command: opencode, args: ['run', 'Do the task.'], env, cwd: work });
    const threads = await watchThreads(stage, run);
    expect(await run).toContain('All is done.');
    expect(readFileSync(join(work, 'log.txt'), 'utf8')).toBe('root 0\nchild 0\nchild 1\nroot 1\n');

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
