import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message, Script } from '../../../sim/index.js';
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
const write = (line: string) => ({ ...use('exec_command', { cmd: `echo ${line} >> log.txt` }), output_tokens: 1000 });

const resultsOf = (messages: readonly Message[]) => messages.filter(({ role }) => role === 'tool');
const writeThrice: Script = (messages) => {
  const steps = resultsOf(messages).length;
  return steps < 3 ? write(`step ${steps}`) : { content: 'All three steps are done.' };
};

const spawnChild: Script = (messages) => {
  const results = resultsOf(messages);
  const child = results.length < 2 ? write(`child ${results.length}`) : { content: 'The child is done.' };
  if (isChild(messages)) return child;
  const id = () => (JSON.parse(results[0]!.text) as { agent_id: string }).agent_id;
  const steps = [
    () => use('spawn_agent', { message: CHILD_TASK }),
    () => use('wait_agent', { targets: [id()], timeout_ms: 60_000 }),
    () => write('root'),
  ];
  return steps[results.length]?.() ?? { content: 'All is done.' };
};

/** Events that `codex exec --json` writes, one per line. */
interface CodexEvent {
  readonly type: string;
  readonly thread_id?: string;
  readonly item?: { readonly type: string; readonly text?: string };
}

async function runCodex(codex: string, url: string) {
  const work = makeFolder();
  const home = makeFolder();
  configure('codex/config.toml', url, join(home, 'config.toml'));
  const args = [codex, 'exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '--json', 'Do the task.'];
  const env = { CODEX_HOME: home };
  const stdout = await runClient({ command: process.execPath, args, env, cwd: work });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CodexEvent);
  return {
    session: events.find(({ type }) => type === 'thread.started')?.thread_id,
    answer: events.findLast(({ item }) => item?.type === 'agent_message')?.item?.text,
    log: readFileSync(join(work, 'log.txt'), 'utf8').trim().split('\n'),
  };
}

const codexOf = (skip: (reason: string) => never) =>
  join(installOf('harness', skip), 'node_modules/@openai/codex/bin/codex.js');

describe('Codex', () => {
  it('does a task of four calls as one program', async ({ skip }) => {
    const codex = codexOf(skip);
    const stage = await startStage(writeThrice);
    const { session, answer, log } = await runCodex(codex, stage.url);
    expect(log).toEqual(['step 0', 'step 1', 'step 2']);
    expect(answer).toBe('All three steps are done.');
    expect(await stage.programs()).toMatchObject([{ id: session, calls: 4, active_calls: 0 }]);
    const calls = await stage.end();
    const how = { identified_by: 'session-id', api: 'responses', stream: true };
    const call = { program: session, ...how, outcome: 'completed' };
    expect(calls).toMatchObject(Array(4).fill(call));
  });

  it('has its sub-agents as threads of the root program', async ({ skip }) => {
    const codex = codexOf(skip);
    const stage = await startStage(spawnChild);
    const run = runCodex(codex, stage.url);
    const threads = await watchThreads(stage, run);
    const { session, answer, log } = await run;
    expect(log).toEqual(['child 0', 'child 1', 'root']);
    expect(answer).toBe('All is done.');
    expect(await stage.programs()).toMatchObject([{ id: session, calls: 7, active_calls: 0 }]);
    const calls = await stage.end();
    const child = calls.find(({ thread }) => thread !== undefined)?.thread;
    expect(child).toBeTypeOf('string');
    expect(threads).toEqual(new Map([[session, new Set(['', child])]]));
    expect(calls.filter(({ thread }) => thread === child)).toHaveLength(3);
    expect(calls.every(({ program, outcome }) => program === session && outcome === 'completed')).toBe(true);
  });
});
