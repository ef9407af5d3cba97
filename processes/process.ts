import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../sidecar/errors.js';

const STDERR_KEPT = 2000;
/** Time for an interrupted command to report its measurements. */
const FAREWELL_MS_MAX = 10_000;

/** A server in a process of its own. */
export type Server = Readonly<Awaited<ReturnType<typeof serve>>>;

/** A process that this one started, and that does not outlive it. */
export type Child = Readonly<ReturnType<typeof start>>;

const binary = join(dirname(createRequire(import.meta.url).resolve('maitred/package.json')), 'dist/cli/main.js');

/** Starts a command. Its stdout must be read. */
export function start(command: string, args: readonly string[]) {
  // Settings of the user's own gateway must not affect this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MAITRED_')));
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  const kill = () => signal('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close').finally(() => process.off('exit', kill));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-STDERR_KEPT)));
  return {
    /** NaN when it could not be started. */
    pid: child.pid ?? NaN,
    stdout: child.stdout,
    /** Resolves when it has ended and its output is read. Rejects when it could not be started. */
    ended,
    stderr: () => stderr.trim(),
    signal,
    /** Kills it, and waits until it has ended. */
    stop: async () => {
      kill();
      await ended;
    },
  };
}

/**
 * Starts a `maitred` command that serves, and waits until it listens.
 * @throws Error with what it wrote to stderr, when it ends before that.
 */
export async function serve(args: readonly string[]) {
  const { pid, stdout, ended, stderr, signal, stop } = start(process.execPath, [binary, ...args]);
  const lines = createInterface({ input: stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (!line.includes('"msg":"listening"')) return;
      resolve((JSON.parse(line) as { readonly url: string }).url);
      // Its further log is ignored, but must be read.
      lines.removeAllListeners('line');
      stdout.resume();
    });
    ended.then(() => reject(new Error(`maitred ${args.join(' ')} ended: ${stderr()}`)), reject);
  });
  return { url, pid, signal, stop };
}

/**
 * Runs a `maitred` command to its end, and returns its stdout and the end of its stderr. A command that takes longer
 * than `msMax` is interrupted, and killed if it goes on.
 */
export async function runToEnd(args: readonly string[], msMax: number): Promise<{ stdout: string; stderr: string }> {
  const child = start(process.execPath, [binary, ...args]);
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const timers = [
    setTimeout(() => child.signal('SIGINT'), msMax),
    setTimeout(() => void child.stop(), msMax + FAREWELL_MS_MAX),
  ];
  try {
    await child.ended;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
  return { stdout, stderr: child.stderr() };
}

/** A port that is free now, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const READY_MS_MAX = 30_000;
const READY_POLL_MS = 20;

/** The body of a 200. @throws Error that names the URL. */
export async function get(url: string): Promise<string> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached: ${reasonOf(error)}`);
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}

/** Polls until nothing is missing. @throws Error that names the missing part after 30 seconds */
export async function untilReady(missing: () => Promise<string | undefined>): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    const reason = await missing();
    if (reason === undefined) return;
    if (performance.now() > deadline) throw new Error(reason);
    await sleep(READY_POLL_MS);
  }
}

/** A `maitred` command that serves, can be killed, and comes back at the same address. */
export class Revivable {
  #server: Server | undefined;

  /** @param args without `--port` @param port its port from the first start on; any by default */
  constructor(
    private readonly args: readonly string[],
    private port = '0',
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** NaN while it is away. */
  get pid(): number {
    return this.#server?.pid ?? NaN;
  }

  /** @throws Error with what it wrote to stderr, when it does not come up */
  async start(): Promise<void> {
    this.#server = await serve([...this.args, '--port', this.port]);
    this.port = new URL(this.#server.url).port;
  }

  signal(name: NodeJS.Signals): void {
    this.#server?.signal(name);
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }
}
