import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Store {
  /** Its socket. */
  readonly path: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Starts a redis-server of its own, on a socket. Undefined: it is not installed. */
export async function startServer(): Promise<Store | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'maitred-bench-'));
  const path = join(folder, 'redis.sock');
  const child = spawn('redis-server', ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  const ended = new Promise<undefined>((resolve) =>
    child.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined)),
  );
  const stop = async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (;;) {
    const socket = connect(path);
    const connected = once(socket, 'connect').then(
      () => 'yes',
      () => 'not yet',
    );
    const accepts = await Promise.race([connected, ended]);
    socket.destroy();
    if (accepts === undefined) return undefined;
    if (accepts === 'yes') return { path, pid: child.pid ?? NaN, stop };
    await sleep(10);
  }
}
