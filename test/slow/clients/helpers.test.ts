import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { ROOT } from '../../support/tree.js';
import { installOf, makeFolder, runClient, startStage, type Run, type Stage } from './stage.js';

/** The files of `clients/`, in real frameworks, at real gateways. */
const HELPERS = join(ROOT, 'clients');
const RUNS = join(ROOT, 'test/slow/clients/helpers');
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

type Skip = (reason: string) => never;

function python(file: string, args: readonly string[], skip: Skip): Run {
  const command = join(installOf('helpers', skip), 'bin/python');
  return { command, args: [join(RUNS, file), ...args], env: { PYTHONPATH: HELPERS } };
}

/** Compiles the helper with the run that uses it, so that its types are checked against the AI SDK's. */
function aiSdk(args: readonly string[], skip: Skip): Run {
  const folder = makeFolder();
  symlinkSync(join(installOf('node', skip), 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(HELPERS, 'maitred-ai-sdk.ts'), join(folder, 'maitred-ai-sdk.mts'));
  copyFileSync(join(RUNS, 'ai-sdk-run.mts'), join(folder, 'ai-sdk-run.mts'));
  const types = ['--lib', 'es2023', '--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
  const flags = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', ...types];
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags, 'ai-sdk-run.mts'], {
    cwd: folder,
  });
  return { command: process.execPath, args: [join(folder, 'ai-sdk-run.mjs'), ...args] };
}

/** The last answers of tools, behind the last message of the user. */
function toolResults(messages: Parameters<Script>[0]): number {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(from).filter(({ role }) => role === 'tool').length;
}

const call = (name: string, city: string) => ({ name, arguments: JSON.stringify({ city, input: city }) });
const isTold = (messages: Parameters<Script>[0], text: string) =>
  messages.some(({ role, text: said }) => role === 'system' && said.includes(text));

const travel: Script = (messages) => {
  const results = toolResults(messages);
  if (isTold(messages, 'You plan.')) return { content: 'Go.' };
  if (isTold(messages, 'You research.'))
    return results === 0 ? { tool_calls: [call('get_weather', 'Rome')] } : { content: 'Sunny.' };
  return results === 0
    ? { tool_calls: [call('research', 'Rome'), call('get_weather', 'Paris')] }
    : { content: 'Rome it is.' };
};

const support: Script = (messages) => {
  const results = toolResults(messages);
  if (isTold(messages, 'You know.'))
    return results === 0 ? { tool_calls: [call('get_weather', 'Atlantis')] } : { content: 'No.' };
  if (isTold(messages, 'You write.'))
    return messages.at(-1)?.text === 'No.' ? { content: 'Written.' } : { tool_calls: [call('ask_expert', 'Rome')] };
  return results === 0
    ? { tool_calls: [call('get_weather', 'Rome')] }
    : { tool_calls: [call('transfer_to_writer', '')] };
};

const booking: Script = (messages) => {
  if (isTold(messages, 'You plan.')) return { content: 'Go.' };
  const tools = [call('get_weather', 'Atlantis'), call('book', 'Rome'), call('watch', 'Rome')];
  return toolResults(messages) === 0 ? { tool_calls: tools } : { content: 'Booked.' };
};

interface Told {
  /** Nodes and threads of the program's calls; digits of ids are left out. */
  readonly calls: readonly unknown[];
  readonly ends: number;
}

/** All that the gateway was told, by program. */
function toldOf(stage: Stage): Map<string, Told> {
  const told = new Map<string, { calls: unknown[]; ends: number }>();
  const of = (program: string) => {
    const entry = told.get(program) ?? { calls: [], ends: 0 };
    told.set(program, entry);
    return entry;
  };
  for (const { path, headers } of stage.requests()) {
    const [, id] = /^\/programs\/([^/]+)\/end$/.exec(path) ?? [];
    if (id === undefined) {
      const names = ['workflow', 'thread'].map((name) => [name, headers[`x-maitred-${name}`]?.replace(UUID, '#')]);
      of(headers['x-maitred-program'] ?? '').calls.push(Object.fromEntries(names.filter(([, name]) => name)));
    } else of(decodeURIComponent(id)).ends += 1;
  }
  return told;
}

const sorted = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).sort();

async function expectTold(stage: Stage, programs: number, expected: Told): Promise<string[]> {
  const told = toldOf(stage);
  expect(told.size).toBe(programs);
  for (const { calls, ends } of told.values()) {
    expect(sorted(calls)).toEqual(sorted(expected.calls));
    expect(ends).toBe(expected.ends);
  }
  // Each answer to a message is of success.
  expect(stage.answers().filter(({ status }) => status !== 200)).toEqual([]);
  const open = expected.ends > 0 ? [] : [...told.keys()];
  expect((await stage.programs()).map(({ id }) => id).sort()).toEqual(open.sort());
  return [...told.keys()];
}

const WORKER = 'worker:#|model';
const RESEARCHER = 'worker:#|tools:#|model';
const TRAVEL: Told = {
  calls: [
    { workflow: 'trip' },
    { workflow: 'trip', thread: WORKER },
    { workflow: 'trip', thread: RESEARCHER },
    { workflow: 'trip', thread: RESEARCHER },
    { workflow: 'trip', thread: WORKER },
  ],
  ends: 1,
};

describe('LangGraph', () => {
  it.for(['invoke', 'ainvoke', 'stream'])('%s: two runs at once are two programs that end', async (how, { skip }) => {
    const stage = await startStage(travel);
    const printed = await runClient(python('langgraph_run.py', [stage.url, stage.url, how], skip));
    expect(printed).not.toContain('warning');
    for (const id of await expectTold(stage, 2, TRAVEL)) expect(id).toMatch(/^run-/);
    const calls = await stage.end();
    expect(calls.filter(({ thread }) => thread === undefined)).toHaveLength(2);
  });

  it('joins the program that its runs name, and leaves it open', async ({ skip }) => {
    const stage = await startStage(travel);
    await runClient(python('langgraph_run.py', [stage.url, stage.url, 'ainvoke', 'my trip'], skip));
    const twice = (items: readonly unknown[]) => [...items, ...items];
    await expectTold(stage, 1, { calls: twice(TRAVEL.calls), ends: 0 });
  });
});

describe('OpenAI Agents SDK', () => {
  it.for(['run', 'stream'])('%s: agents and the end', async (how, { skip }) => {
    const stage = await startStage(support);
    const printed = await runClient(python('agents_run.py', [stage.url, stage.url, how, 'case'], skip));
    expect(printed).toBe('Written.\nWritten.\n');
    const ids = await expectTold(stage, 2, {
      calls: [{}, {}, ...['writer', 'writer', 'expert', 'expert'].map((thread) => ({ thread }))],
      ends: 1,
    });
    expect(ids.sort()).toEqual(['case-1', 'case-2']);
  });
});

describe('AI SDK', () => {
  it.for(['generate', 'stream'])('%s: threads and the end', async (how, { skip }) => {
    const stage = await startStage(booking);
    const printed = await runClient(aiSdk([stage.url, stage.url, how, 'my trip'], skip));
    expect(printed).toMatch(/^Go\.\nBooked\.\nseconds: /);
    await expectTold(stage, 1, {
      calls: [
        { workflow: 'trip' },
        { workflow: 'trip', thread: 'work \\u2013 \\u201c\\u00e9\\u201d' },
        { workflow: 'trip', thread: 'work \\u2013 \\u201c\\u00e9\\u201d' },
      ],
      ends: 1,
    });
  });
});

describe('a gateway that takes no messages', () => {
  /** Accepts connections and never answers; or, once closed, refuses them. */
  async function startSilence(isClosed: boolean): Promise<string> {
    const server = createServer((socket) => socket.on('error', () => undefined).resume());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (isClosed) server.close();
    else onTestFinished(() => void server.close());
    return `http://127.0.0.1:${port}`;
  }

  const langGraph = (url: string, silence: string, skip: Skip) =>
    python('langgraph_run.py', [url, silence, 'invoke'], skip);
  const ai = (url: string, silence: string, skip: Skip) => aiSdk([url, silence, 'generate', 'x'], skip);

  it.for([
    ['silence', 'LangGraph', travel, 'Rome it is.', langGraph],
    ['silence', 'the AI SDK', booking, 'Booked.', ai],
    ['refusal', 'LangGraph', travel, 'Rome it is.', langGraph],
    ['refusal', 'the AI SDK', booking, 'Booked.', ai],
  ] as const)('by %s neither stops nor slows %s', async ([how, , script, answer, prepare], { skip }) => {
    const stage = await startStage(script);
    const printed = await runClient(prepare(stage.url, await startSilence(how === 'refusal'), skip));
    expect(printed).toContain(answer);
    // The end is given up after two seconds.
    expect(Number(/seconds: (.*)/.exec(printed)?.[1])).toBeLessThan(6);
    const warnings = printed.match(/warning/g)?.length ?? 0;
    // A process that ends before a message is given up does not know of the loss.
    if (how === 'refusal') expect(warnings).toBe(1);
    else expect(warnings).toBeLessThanOrEqual(1);
  });
});
