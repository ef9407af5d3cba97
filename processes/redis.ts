import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Why tests with a real server are skipped; undefined: they run. */
export const noRedis =
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'redis-server is not installed';

/** A redis-server of its own, on a socket in a folder of its own. It writes nothing to disk. */
export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'maitred-redis-'));
  readonly path = join(this.#folder, 'redis.sock');
  #child: ChildProcess | undefined;

  /** @param args more arguments of redis-server */
  static async start(args: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(args);
    await server.start();
    return server;
  }

  private constructor(private readonly args: readonly string[]) {}

  async start(): Promise<void> {
    const fixed = ['--port', '0', '--unixsocket', this.path, '--dir', this.#folder, '--save', '', '--appendonly', 'no'];
    this.#child = spawn('redis-server', [...fixed, ...this.args], { stdio: 'ignore' });
    while (!(await accepts(this.path))) {
      if (this.#child.exitCode !== null) throw new Error(`redis-server ended with ${this.#child.exitCode}`);
      await sleep(5);
    }
  }

  /** Ends the process at once: nothing is kept. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  pause = (): boolean | undefined => this.#child?.kill('SIGSTOP');
  resume = (): boolean | undefined => this.#child?.kill('SIGCONT');

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function accepts(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
