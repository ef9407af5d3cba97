import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { EXAMPLES, installOf, makeFolder, runClient, startStage, type Run } from './stage.js';
import { startTap } from './tap.js';

/** Asks for the tool twice, then answers with the tool's outputs. Only a client that ran both calls gets it right. */
const askTwice: Script = (messages) => {
  const results = messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
  const city = ['Paris', 'Lisbon'][results.length];
  if (city === undefined) return { content: results.join(' ') };
  return { tool_calls: [{ name: 'get_weather', arguments: JSON.stringify({ city }) }] };
};
const ANSWERED = [
  'get_weather: It is sunny in Paris.',
  'get_weather: It is rainy in Lisbon.',
  'answer: It is sunny in Paris. It is rainy in Lisbon.',
].join('\n');

interface Example {
  readonly file: string;
  readonly api: 'chat' | 'responses' | 'messages';
  readonly env?: Readonly<Record<string, string>>;
}

const LOOPS: readonly Example[] = [
  { file: 'node/openai-chat.mjs', api: 'chat' },
  { file: 'node/openai-responses.mjs', api: 'responses' },
  { file: 'node/openai-responses.mjs', api: 'responses', env: { CONTINUE: 'history' } },
  { file: 'node/anthropic-messages.mjs', api: 'messages' },
  { file: 'node/anthropic-tool-runner.mjs', api: 'messages' },
  { file: 'node/ai-sdk.mjs', api: 'chat' },
  { file: 'node/langchain.mjs', api: 'chat' },
  { file: 'python/openai_chat.py', api: 'chat' },
  { file: 'python/openai_responses.py', api: 'responses' },
  { file: 'python/openai_responses.py', api: 'responses', env: { CONTINUE: 'history' } },
  { file: 'python/anthropic_messages.py', api: 'messages' },
  { file: 'python/anthropic_tool_runner.py', api: 'messages' },
  { file: 'python/langchain_chat.py', api: 'chat' },
];
const NAMED = LOOPS.map((loop) => [[loop.file, ...Object.values(loop.env ?? {})].join(' '), loop] as const);

type Skip = (reason: string) => never;

/** Command of an example, with the packages installed for it. */
function prepare({ file, env = {} }: Example, skip: Skip): Run {
  if (file.endsWith('.py')) {
    return { command: join(installOf('python', skip), 'bin/python'), args: [join(EXAMPLES, file)], env };
  }
  // Modules look for packages beside their own files, so they are copied to a folder that can have them.
  const folder = makeFolder();
  cpSync(join(EXAMPLES, 'node'), folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  symlinkSync(join(installOf('node', skip), 'node_modules'), join(folder, 'node_modules'));
  return { command: process.execPath, args: [join(folder, basename(file))], env };
}

const run = (prepared: Run, env: Readonly<Record<string, string>>) =>
  runClient({ ...prepared, env: { ...prepared.env, ...env } });

describe.each([false, true])('streaming: %s', (stream) => {
  it.for(NAMED)('%s is one program of three calls', async ([, loop], { skip }) => {
    const prepared = prepare(loop, skip);
    const stage = await startStage(askTwice);
    const printed = await run(prepared, { GATEWAY_URL: stage.url, STREAM: stream ? '1' : '0' });
    expect(printed.trim()).toBe(ANSWERED);

    const programs = await stage.programs();
    expect(programs).toMatchObject([{ calls: 3, active_calls: 0 }]);
    const id = programs[0]!.id;
    expect(await stage.program(id)).toMatchObject({ id, calls: 3, active: [], threads: [{ thread: '', calls: 3 }] });
    // The tool runners try threads of messages first, and continue without them after a refusal.
    const heads = stage.answers().filter(({ status }) => status !== 400);
    expect(heads).toMatchObject(Array(3).fill({ status: 200, headers: { 'x-maitred-program': id } }));
    const calls = await stage.end();
    expect(calls).toMatchObject(Array(3).fill({ program: id, api: loop.api, stream, outcome: 'completed' }));
  });
});

describe('all at once with the same question', () => {
  it('unnamed, each is a program of its own', async ({ skip }) => {
    const prepared = LOOPS.map((loop) => prepare(loop, skip));
    const stage = await startStage();
    const taps = await Promise.all(prepared.map(() => startTap(stage.direct)));
    const printed = await Promise.all(prepared.map((loop, i) => run(loop, { GATEWAY_URL: taps[i]!.url })));
    for (const text of printed) expect(text).toMatch(/^(get_weather: It is sunny in Paris.\n){2}answer: \w/);
    const programs = await stage.programs();
    expect(programs).toMatchObject(Array(LOOPS.length).fill({ calls: 3, active_calls: 0 }));
    const told = taps.map((tap) => tap.answers().flatMap(({ headers }) => headers['x-maitred-program'] ?? []));
    expect(told.map((ids) => new Set(ids).size)).toEqual(LOOPS.map(() => 1));
    expect(told.map(([id]) => id).sort()).toEqual(programs.map(({ id }) => id).sort());
  });

  it('named, each is the program of its name', async ({ skip }) => {
    const prepared = LOOPS.map((loop) => prepare(loop, skip));
    const stage = await startStage();
    const names = LOOPS.map((_, index) => `task-${index}`);
    await Promise.all(
      prepared.map((loop, i) => run(loop, { GATEWAY_URL: stage.url, STREAM: '1', PROGRAM: names[i]! })),
    );
    const programs = await stage.programs();
    expect(programs.map(({ id }) => id).sort()).toEqual(names.sort());
    expect(programs).toMatchObject(Array(LOOPS.length).fill({ calls: 3, active_calls: 0 }));
  });
});

describe('curl.sh', () => {
  it('names its program, sees it, and ends it', async ({ skip }) => {
    if (spawnSync('curl', ['--version']).error !== undefined) skip('curl is not installed');
    const stage = await startStage();
    const env = { GATEWAY_URL: stage.url, PROGRAM: 'by-hand' };
    const printed = await runClient({ command: 'sh', args: [join(EXAMPLES, 'curl.sh')], env });
    expect(printed.match(/^x-maitred-program: by-hand\r$/gm)).toHaveLength(2);
    expect(printed).toContain('data: [DONE]');
    const program = printed.split('\n').find((line) => line.startsWith('{"id":"by-hand"'));
    expect(JSON.parse(program!)).toMatchObject({ id: 'by-hand', calls: 2, active_calls: 0 });
    expect(await stage.programs()).toEqual([]);
  });
});
