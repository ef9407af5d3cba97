import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { fileOf } from '../support/folder.js';
import { Maitred } from '../support/maitred.js';

interface Worker {
  readonly pid: number;
  readonly admin: string;
}

async function engineUrl(): Promise<string> {
  const engine = await startEngine({ speed: 1000 });
  onTestFinished(() => engine.close());
  return engine.url;
}

const workersOf = ({ logs }: Maitred): Worker[] =>
  logs
    .filter(({ msg }) => msg === 'listening')
    .map(({ pid, admin_url }) => ({ pid: pid as number, admin: admin_url as string }));

const childrenOf = ({ process: { pid } }: Maitred): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

/** Two workers, and their common URL. */
async function startWorkers(args: readonly string[]): Promise<{ readonly maitred: Maitred; readonly url: string }> {
  const maitred = new Maitred(['serve', '--workers', '2', '--port', '0', ...args], { MAITRED_ADMIN_PORT: '0' });
  const url = await maitred.url();
  await until(() => workersOf(maitred).length === 2);
  return { maitred, url };
}

/** A call by a connection of its own, so that calls go to the workers in turns. */
const chat = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify({ model: 'llama-3.1-8b', max_tokens: 2, ...body }),
  });

const longCall = (url: string) =>
  chat(url, { messages: question('Go on'), stream: true, max_tokens: 20_000, ignore_eos: true });
const question = (content: string) => [{ role: 'user', content }];
const read = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;

/** Calls of the program as the worker that ran its last one counts them. */
async function callsOf(workers: readonly Worker[], program: string): Promise<number> {
  const rows = workers.map(({ admin }) => read<{ readonly calls?: number }>(`${admin}/programs/${program}`));
  return Math.max(...(await Promise.all(rows)).map(({ calls = 0 }) => calls));
}

describe('maitred serve --workers', () => {
  it('serves as one gateway: programs, conversations, configuration', async () => {
    const engine = await engineUrl();
    const file = fileOf('maitred.yaml', `engines: [{url: "${engine}"}]\n`);
    const { maitred, url } = await startWorkers(['--config', file]);
    const workers = workersOf(maitred);
    for (let calls = 1; calls <= 6; calls += 1) {
      const called = await chat(url, { messages: question(`${calls}`) }, { 'x-maitred-program': 'agent' });
      expect(called.status).toBe(200);
      await called.text();
    }
    // A worker may tell of a call only after the next one has come to the other, which then does not count it.
    expect(await callsOf(workers, 'agent')).toBeGreaterThan(3);
    for (const { admin } of workers) expect((await fetch(`${admin}/programs/agent`)).status).toBe(200);

    const first = await chat(url, { messages: question('Hello') });
    const { choices } = (await first.json()) as { readonly choices: readonly { readonly message: object }[] };
    const messages = [...question('Hello'), choices[0]!.message, ...question('Go on')];
    for (let i = 0; i < 2; i += 1) {
      const next = await chat(url, { messages });
      expect(next.headers.get('x-maitred-program')).toBe(first.headers.get('x-maitred-program'));
      await next.text();
    }

    writeFileSync(file, `engines: [{url: "${engine}"}]\npolicy: {name: fcfs-window}\n`);
    maitred.kill('SIGHUP');
    for (const { admin } of workers)
      await until(
        async () => (await read<{ policy: { name: string } }>(`${admin}/config`)).policy.name === 'fcfs-window',
      );
  });

  it('starts a worker again that was killed, while the other answers', async () => {
    const { maitred, url } = await startWorkers(['--embedded', '1']);
    const [victim, other] = workersOf(maitred) as [Worker, Worker];
    expect((await read<{ cluster: { live: number } }>(`${other.admin}/gateway`)).cluster.live).toBe(2);
    process.kill(victim.pid, 'SIGKILL');
    expect(await maitred.logged('a worker ended, and is started again')).toMatchObject({
      worker: 1,
      signal: 'SIGKILL',
    });
    expect((await read<{ cluster: { live: number } }>(`${other.admin}/gateway`)).cluster.live).toBe(1);
    expect((await chat(url, { messages: question('Hello') })).status).toBe(200);
    await until(() => workersOf(maitred).length === 3);
    for (let i = 0; i < 4; i += 1) expect((await chat(url, { messages: question(`${i}`) })).status).toBe(200);

    // One that has not loaded yet hears of the end too.
    process.kill(other.pid, 'SIGKILL');
    await until(() => childrenOf(maitred).length === 1);
    await until(() => childrenOf(maitred).length === 2);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
  });

  it('lets running calls finish at a signal, and ends all at once at a second one', async () => {
    const { maitred, url } = await startWorkers(['--embedded', '1']);
    const running = await chat(url, {
      messages: question('Go on'),
      stream: true,
      max_tokens: 100_000,
      ignore_eos: true,
    });
    const reader = running.body!.getReader();
    await reader.read();
    maitred.kill('SIGTERM');
    await maitred.logged('draining');
    await sleep(150);
    expect((await reader.read()).done).toBe(false);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(1);
    for (const { pid } of workersOf(maitred)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await reader.cancel().catch(() => undefined);
  });

  it('leaves no worker behind when its first process is killed, and breaks no call', async () => {
    const { maitred, url } = await startWorkers(['--engine', await engineUrl()]);
    const running = await longCall(url);
    maitred.kill('SIGKILL');
    await maitred.ended;
    expect(await running.text()).toMatch(/data: \[DONE\]\s*$/);
    const isGone = ({ pid }: Worker) => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    };
    await until(() => workersOf(maitred).every(isGone));
  });

  it('reports a taken port, of the main listener or of a worker’s own, and ends', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const args = ['serve', '--workers', '2', '--engine', await engineUrl(), '--port'];
    const main = new Maitred([...args, `${port}`], { MAITRED_ADMIN_PORT: '0' });
    const own = new Maitred([...args, '0'], { MAITRED_ADMIN_PORT: `${port - 1}` });
    for (const maitred of [main, own]) {
      expect(await maitred.ended).toBe(1);
      expect(maitred.stderr).toMatch(/^maitred: .*EADDRINUSE.*; if a gateway runs there .*\n$/);
    }
  });

  it('writes no event log, which has one schedule', async () => {
    const maitred = new Maitred(['serve', '--workers', '2', '--record', fileOf('events.jsonl', '')], { MAITRED_ADMIN_PORT: '0' }); // prettier-ignore
    expect(await maitred.ended).toBe(2);
    expect(maitred.stderr).toContain('workers: must be 1 with --record');
  });
});
