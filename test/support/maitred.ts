import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { engine } from '../sim/client.js';
import type { EngineOptions } from '../../sim/index.js';
import { ROOT } from './tree.js';

/** The installed binary, built by `npm run build`. */
export const BINARY = `${ROOT}dist/cli/main.js`;

type LogLine = Readonly<Record<string, unknown>>;

/** A `maitred` process under test; killed with the test if it still runs. */
export class Maitred {
  readonly logs: LogLine[] = [];
  stdout = '';
  stderr = '';
  readonly process: ChildProcess;
  /** Exit code once it has ended and its output is read; null after a signal that it did not handle. */
  readonly ended: Promise<number | null>;
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, binary = BINARY) {
    const child = spawn(process.execPath, [binary, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...env },
    });
    this.process = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = once(child, 'close').then(([code]) => {
      this.#wake();
      return code as number | null;
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** The first log line with this message, past or future. @throws Error when the process ends without it */
  async logged(msg: string): Promise<LogLine> {
    for (;;) {
      const line = this.logs.find((candidate) => candidate['msg'] === msg);
      if (line !== undefined) return line;
      if (this.process.exitCode !== null) throw new Error(`ended without "${msg}": ${this.stderr}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Base URL, once it listens. */
  async url(): Promise<string> {
    return (await this.logged('listening'))['url'] as string;
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  #take(line: string): void {
    this.stdout += `${line}\n`;
    if (line.startsWith('{"')) this.logs.push(JSON.parse(line) as LogLine);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** `maitred serve` in front of two stand-in engines, which have joined. */
export async function serveTwo(options: EngineOptions, port = '0', env: Readonly<Record<string, string>> = {}) {
  const engines = await Promise.all([engine(options), engine(options)]);
  const maitred = new Maitred(['serve', '--port', port, ...engines.flatMap(({ url }) => ['--engine', url])], env);
  const url = await maitred.url();
  const joined = () => maitred.logs.filter(({ msg }) => msg === 'engine joined').length;
  await expect.poll(joined).toBe(2);
  return { maitred, url };
}
