import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { freePort } from '../../../processes/process.js';
import { folderOf } from '../../support/folder.js';

const BINARY = process.env['TEST_KUBE_APISERVER'] ?? '';

/** Why the suite cannot run here; undefined: it can. */
export const LACKING =
  !existsSync(BINARY) ? 'TEST_KUBE_APISERVER names no kube-apiserver; build.sh makes one'
  : spawnSync('etcd', ['--version']).status !== 0 ? 'etcd is not installed'
  : undefined; // prettier-ignore

const running: ChildProcess[] = [];

/** Ends all servers. */
export async function endServers(): Promise<void> {
  for (const server of running.splice(0).reverse()) await end(server);
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'exit');
}

/** A kube-apiserver with RBAC and an etcd, and two users: `admin` may do all, `maitred` nothing. */
export class ApiServer {
  readonly #folder = folderOf({ tokens: 'admin,admin,1,system:masters\nmaitred,maitred,2\n' });
  #port = 0;
  #etcd = '';
  #process: ChildProcess | undefined;

  static async start(): Promise<ApiServer> {
    const server = new ApiServer();
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
    server.#etcd = client!;
    server.#port = await freePort();
    const folder = server.#folder;
    execFileSync('openssl', ['genrsa', '-out', join(folder, 'sa.key'), '2048'], { stdio: 'ignore' });
    const urls = ['--listen-client-urls', client!, '--advertise-client-urls', client!, '--listen-peer-urls', peer!];
    const cluster = ['--initial-advertise-peer-urls', peer!, '--initial-cluster', `default=${peer!}`];
    running.push(spawn('etcd', ['--data-dir', join(folder, 'etcd'), ...urls, ...cluster], { stdio: 'ignore' }));
    await server.run();
    return server;
  }

  /** Starts the API server, and waits until it is ready. */
  async run(): Promise<void> {
    const key = join(this.#folder, 'sa.key');
    const flags = {
      'etcd-servers': this.#etcd,
      'bind-address': '127.0.0.1',
      'secure-port': this.#port,
      'cert-dir': this.#folder,
      'token-auth-file': join(this.#folder, 'tokens'),
      'authorization-mode': 'RBAC',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': key,
      'service-account-signing-key-file': key,
      'service-cluster-ip-range': '10.0.0.0/24',
      'disable-admission-plugins': 'ServiceAccount',
      'endpoint-reconciler-type': 'none',
    };
    const words = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    this.#process = spawn(BINARY, words, { stdio: 'ignore' });
    running.push(this.#process);
    for (;;) {
      const status = await this.ask('GET', '/readyz').catch(() => 0);
      if (status === 200) return;
      if (this.#process.exitCode !== null) throw new Error('kube-apiserver has ended');
      await sleep(200);
    }
  }

  async kill(): Promise<void> {
    if (this.#process) await end(this.#process);
  }

  /** Asks as `admin`; returns the status. */
  async ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<number> {
    const dispatcher = new Agent({ connect: { ca: readFileSync(join(this.#folder, 'apiserver.crt')) } });
    try {
      const { statusCode, body: answer } = await request(`https://127.0.0.1:${this.#port}${path}`, {
        method,
        dispatcher,
        headers: { authorization: 'Bearer admin', 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.dump();
      return statusCode;
    } finally {
      await dispatcher.destroy();
    }
  }

  /** As the user `maitred` reaches it. */
  readonly cluster = () =>
    Promise.resolve({
      server: `https://127.0.0.1:${this.#port}`,
      namespace: 'llm',
      token: 'maitred',
      tls: { ca: readFileSync(join(this.#folder, 'apiserver.crt')) },
    });
}
