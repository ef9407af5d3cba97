import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { EXAMPLES, folderOf, makeFolder, runClient, startStage, type Run } from './stage.js';

/** Asks for the tool twice, then answers with what the tool said: only a client that ran both calls gets it right. */
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

type Example = Readonly<{ file: string; api: 'chat' | 'responses' | 'messages'; env?: Record<string, string> }>;

const EXAMPLE_PROGRAMS: readonly Example[] = [
  { file: 'node/openai-chat.mjs', api: 'chat' },
  { file: 'node/openai-responses.mjs', api: 'responses' },
  { file: 'node/openai-responses.mjs', api: 'responses', env: { CONTINUE: 'history' } },
  { file: 'node/anthropic-messages.mjs', api: 'messages' },
  { file: 'node/ai-sdk.mjs', api: 'chat' },
  { file: 'node/langchain.mjs', api: 'chat' },
  { file: 'python/openai_chat.py', api: 'chat' },
  { file: 'python/openai_responses.py', api: 'responses' },
  { file: 'python/openai_responses.py', api: 'responses', env: { CONTINUE: 'history' } },
  { file: 'python/anthropic_messages.py', api: 'messages' },
  { file: 'python/langchain_chat.py', api: 'chat' },
];

/** How to run an example with the packages that were installed for it. */
function commandOf(file: string, skip: (reason: string) => never): Pick<Run, 'command' | 'args'> {
  if (file.endsWith('.py')) {
    return { command: join(folderOf('python', skip), 'bin/python'), args: [join(EXAMPLES, file)] };
  }
  const folder = makeFolder();
  cpSync(join(EXAMPLES, 'node'), folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(join(folderOf('node', skip), 'node_modules'), join(folder, 'node_modules'));
  return { command: process.execPath, args: [join(folder, file.slice('node/'.length))] };
}

const named = (examples: readonly Example[]) =>
  examples.map((example) => [`${example.file} ${Object.values(example.env ?? {}).join(' ')}`.trim(), example] as const);

describe.each([false, true])('with streaming %s', (stream) => {
  it.for(named(EXAMPLE_PROGRAMS))('%s is one program', async ([, example], { skip }) => {
    const command = commandOf(example.file, skip);
    const stage = await startStage(askTwice);
    const env = { ...example.env, MAITRED_URL: stage.url, ...(stream && { STREAM: '1' }) };
    expect((await runClient({ ...command, env })).trim()).toBe(ANSWERED);

    const programs = await stage.programs();
    expect(programs).toMatchObject([{ calls: 3, active_calls: 0 }]);
    const id = programs[0]!.id;
    expect(await stage.program(id)).toMatchObject({ id, calls: 3, threads: [] });
    const heads = stage.answers().filter(({ headers }) => 'x-maitred-call' in headers);
    expect(
      heads.map(({ status, headers }) => [status, headers['x-maitred-program'], headers['x-maitred-reason']]),
    ).toEqual(Array(3).fill([200, id, 'direct']));
    const calls = await stage.end();
    expect(calls).toMatchObject(Array(3).fill({ program: id, api: example.api, stream, outcome: 'completed' }));
  });
});
