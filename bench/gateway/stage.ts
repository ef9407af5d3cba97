import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, get, untilReady } from '../../processes/process.js';
import { cpuMsOf, rssBytesOf } from '../disturbance.js';
import type { HoldJob, Latency, PacedJob, Throughput, ThroughputJob } from './load.js';

/** Core of the proxies, and core of all else. Two proxies are never under load at once. */
const PROXY_CORE = 1;
const LOAD_CORE = 0;

export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

const TARGETS = ['direct', 'maitred', 'http-proxy', 'pass-through', 'parse-once'] as const;
export type TargetName = (typeof TARGETS)[number];

/** A proxy between the load and the engine, or `direct`. */
export type Proxy = Readonly<ReturnType<typeof proxyOf>>;

/** The processes of a bench: one mock engine, one load generator, and the proxies between them. */
export class Stage {
  readonly #children: ChildProcess[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'maitred-bench-'));
  #load: ChildProcess | undefined;
  #upstream = '';

  static async with<T>(work: (stage: Stage) => Promise<T>): Promise<T> {
    const stage = new Stage();
    try {
      stage.#upstream = (await stage.#fork(LOAD_CORE, here('upstream.js')))[1];
      [stage.#load] = await stage.#fork(LOAD_CORE, here('load.js'));
      return await work(stage);
    } finally {
      await stage.#close();
    }
  }

  async startAll(): Promise<Proxy[]> {
    const proxies: Proxy[] = [];
    for (const name of TARGETS) proxies.push(await this.start(name));
    return proxies;
  }

  async start(name: TargetName): Promise<Proxy> {
    if (name === 'direct') return proxyOf(name, this.#upstream);
    if (name === 'maitred') return this.startGateway();
    const [child, url] = await this.#fork(PROXY_CORE, here(`${name}.js`), this.#upstream);
    return proxyOf(name, url, child.pid);
  }

  throughput = (job: ThroughputJob) => this.#ask(job) as Promise<Throughput>;
  latency = (job: PacedJob) => this.#ask(job) as Promise<Latency>;
  hold = (job: HoldJob) => this.#ask(job) as Promise<{ open: number }>;

  async #close(): Promise<void> {
    const ended = this.#children.filter((child) => child.exitCode === null).map((child) => once(child, 'exit'));
    for (const child of this.#children) child.kill('SIGTERM');
    await Promise.all(ended);
    rmSync(this.#folder, { recursive: true });
  }

  async #ask(job: object): Promise<unknown> {
    if (this.#load === undefined) throw new Error('the stage is not open');
    this.#load.send(job);
    const [result] = (await once(this.#load, 'message')) as [unknown];
    return result;
  }

  async #fork(core: number, ...args: string[]): Promise<[ChildProcess, string]> {
    const child = this.#spawn(core, args, true);
    const [url] = (await once(child, 'message')) as [string];
    return [child, url];
  }

  #spawn(core: number, args: readonly string[], talks: boolean): ChildProcess {
    const command = [...(canPin ? ['taskset', '-c', String(core)] : []), process.execPath, ...args];
    const child = spawn(command[0] ?? '', command.slice(1), {
      stdio: ['ignore', 'ignore', 'inherit', ...(talks ? (['ipc'] as const) : [])],
    });
    this.#children.push(child);
    return child;
  }

  /**
   * The gateway with all defaults (PLAS, history matching, a log line a call) but one: a window that the mock engine
   * never fills. The gateway is measured, not the waiting of calls.
   * @param more further settings
   */
  async startGateway(more: object = {}): Promise<Proxy> {
    const port = await freePort();
    const file = join(this.#folder, `maitred-${port}.json`);
    const engines = [{ id: 'mock', url: this.#upstream }];
    writeFileSync(file, JSON.stringify({ listen: { port }, engines, admission: { window: 100_000 }, ...more }));
    const main = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
    const child = this.#spawn(PROXY_CORE, [main, 'serve', '--config', file], false);
    const url = `http://127.0.0.1:${port}`;
    await untilReady(() => get(`${url}/readyz`).then(() => undefined, String));
    return proxyOf('maitred', url, child.pid);
  }
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const proxyOf = (name: TargetName, url: string, pid = NaN) => ({
  name,
  url,
  /** Processor time used so far, of all its threads, user and system; undefined where there is no /proc, and for `direct`. */
  cpuMs: () => cpuMsOf(pid),
  rssBytes: () => rssBytesOf(pid),
});

export const CONDITIONS = canPin
  ? 'Proxies run on one core, load generator and mock engine together on another (taskset).'
  : 'No taskset or only one core: nothing is pinned, so proxies take what the load leaves. Compare CPU, not throughput.';
