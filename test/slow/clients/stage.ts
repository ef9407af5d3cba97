import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, onTestFinished } from 'vitest';
import type { Script } from '../../../sim/index.js';
import { folderOf } from '../../support/folder.js';
import { serveTwo } from '../../support/maitred.js';
import { ROOT } from '../../support/tree.js';
import type { SetName } from './installs.js';
import { startTap, type AnswerHead, type Sent } from './tap.js';

export const EXAMPLES = join(ROOT, 'examples');

/** The gateway's log line of one call. */
interface CallLine {
  readonly program: string;
  readonly thread?: string;
  readonly identified_by: string;
  readonly api: string;
  readonly stream: boolean;
  readonly outcome: string;
}

interface ProgramRow {
  readonly id: string;
  readonly calls: number;
  readonly active_calls: number;
}

/** A program with its threads. */
interface ProgramDetail extends ProgramRow {
  readonly threads: readonly { readonly thread: string }[];
}

/** The installed gateway, in front of two stand-in engines that answer by a script. */
export interface Stage {
  /** Base URL for clients, without `/v1`. */
  readonly url: string;
  /** The gateway's own URL, without the tap. */
  readonly direct: string;
  readonly answers: () => AnswerHead[];
  readonly requests: () => Sent[];
  readonly programs: () => Promise<ProgramRow[]>;
  readonly program: (id: string) => Promise<ProgramDetail>;
  /** Shuts down the gateway gracefully; returns the log lines of all calls. */
  readonly end: () => Promise<CallLine[]>;
}

export async function startStage(script?: Script): Promise<Stage> {
  const options = { speed: 20, models: ['llama-3.1-8b'], ...(script && { script }) };
  const { maitred: gateway, url: direct } = await serveTwo(options);
  const tap = await startTap(direct);
  const get = async (path: string) => (await fetch(`${direct}${path}`)).json();
  return {
    url: tap.url,
    direct,
    answers: () => tap.answers(),
    requests: () => tap.requests(),
    programs: async () => ((await get('/programs')) as { programs: ProgramRow[] }).programs,
    program: async (id) => (await get(`/programs/${encodeURIComponent(id)}`)) as ProgramDetail,
    end: async () => {
      gateway.kill('SIGTERM');
      expect(await gateway.ended).toBe(0);
      return gateway.logs.filter(({ msg }) => msg === 'call') as unknown as CallLine[];
    },
  };
}

/** What a root passes on to its child, in scripts of harnesses. */
export const CHILD_TASK = 'Write what the child has to write.';
export const isChild = (messages: Parameters<Script>[0]) =>
  messages.some(({ role, text }) => role === 'user' && text.includes(CHILD_TASK));
export const use = (name: string, args: object) => ({ tool_calls: [{ name, arguments: JSON.stringify(args) }] });

/** Installs an example's configuration for a harness, with the gateway's address in place of the default. */
export function configure(example: string, url: string, target: string): void {
  const text = readFileSync(join(EXAMPLES, example), 'utf8');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll('http://127.0.0.1:8080', url));
}

/** All threads with a call in progress that `/programs` shows until the work is done, by program. */
export async function watchThreads(stage: Stage, work: Promise<unknown>): Promise<ReadonlyMap<string, Set<string>>> {
  const seen = new Map<string, Set<string>>();
  const done = work.then(
    () => true,
    () => true,
  );
  do {
    for (const { id } of await stage.programs()) {
      const threads = seen.get(id) ?? new Set();
      seen.set(id, threads);
      for (const { thread } of (await stage.program(id)).threads) threads.add(thread);
    }
  } while (!(await Promise.race([done, delay(50, false)])));
  await work;
  return seen;
}

/** Folder of a set's packages. Skips the test, with the reason, if they could not be installed. */
export function installOf(set: SetName, skip: (reason: string) => never): string {
  const install = inject('installs')[set];
  return 'missing' in install ? skip(install.missing) : install.folder;
}

/** An empty folder, removed after the test. */
export const makeFolder = () => folderOf({});

export interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder; absent: a fresh one. */
  readonly cwd?: string;
}

/** Runs a client to its end with a separate home, and returns its stdout. @throws if it fails */
export async function runClient({ command, args, env, cwd = makeFolder() }: Run): Promise<string> {
  const home = join(makeFolder(), 'home');
  mkdirSync(home);
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  onTestFinished(() => endGroup(child.pid));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0)
    throw new Error(`${command} exited with ${String(code)}: ${stderr.slice(-4000)}${stdout.slice(-1000)}`);
  return stdout;
}

/** Ends the client's process group, because harnesses start helpers. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes have ended.
  }
}
