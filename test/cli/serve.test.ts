import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayState, TotalsAnswer } from '../../sidecar/admin/answers.js';
import { engine } from '../sim/client.js';
import { run } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { BINARY, Maitred } from '../support/maitred.js';

const configFile = (text: string) => fileOf('maitred.yaml', text);
const engineUrl = async () => (await engine()).url;

const chat = (url: string, body: object = {}, headers: object = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'llama-3.1-8b', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });

describe('maitred serve', () => {
  it('answers through embedded engines, and says how to try it, off the log', async () => {
    const maitred = new Maitred(['serve', '--embedded', '2', '--port', '0']);
    const url = await maitred.url();
    const response = await chat(url, { max_tokens: 3 });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-maitred-engine')).toMatch(/^embedded-[12]$/);
    expect(maitred.stderr).toContain(`curl ${url}/v1/chat/completions`);
    expect(maitred.stdout.split('\n').every((line) => line === '' || line.startsWith('{'))).toBe(true);
    const { engines } = (await (await fetch(`${url}/engines`)).json()) as { engines: { state: string }[] };
    expect(engines.map(({ state }) => state)).toEqual(['up', 'up']);
  });

  it('warns where it is open to all, and tells addresses that this machine reaches', async () => {
    const maitred = new Maitred(['serve', '--embedded', '1', '--port', '0', '--host', '0.0.0.0']);
    const url = await maitred.url();
    await expect.poll(() => maitred.stderr).toContain(`clients: ${url}/v1 (Anthropic’s: ${url})\nPage: closed`);
    const warned = maitred.logs.filter(({ level }) => level === 40);
    expect(warned).toMatchObject([{ key: 'listen.host', msg: expect.stringContaining('set auth.keys') as string }]);
    const token = { MAITRED_ADMIN_TOKEN: 'a-token-of-operators' };
    const watched = new Maitred(['serve', '--embedded', '1', '--port', '0', '--host', '0.0.0.0'], token);
    const { base_url, page } = await watched.logged('listening');
    expect(base_url).toContain('http://127.0.0.1:');
    await expect.poll(() => watched.stderr).toContain(`Page: ${String(page)}\n`);
  });

  it.runIf(existsSync('/dev/full'))('goes on when the disk of its log is full, and says so', async () => {
    const args = [BINARY, 'serve', '--embedded', '1', '--port', '0'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    for await (const chunk of child.stderr!) {
      told += String(chunk);
      if (/^Page: /m.test(told) && told.includes('ENOSPC')) break;
    }
    const [url = ''] = /http:\/\/[\d.:]+/.exec(told) ?? [];
    expect((await chat(url, { max_tokens: 3 })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([1, null]);
  });

  it('estimates what pass-through would have made of the programs that it serves', async () => {
    const file = configFile('shadow: { enabled: true, everyMs: 1000 }');
    const maitred = new Maitred(['serve', '--config', file, '--embedded', '1', '--port', '0']);
    const url = await maitred.url();
    const programs = Array.from({ length: 20 }, async (_, program) =>
      (await chat(url, { max_tokens: 8 }, { 'x-maitred-program': `p${program}` })).text(),
    );
    await Promise.all(programs);
    const poolOf = ({ shadow }: TotalsAnswer) => shadow?.pools.find(({ doubt }) => doubt !== 'few_programs');
    let pool: ReturnType<typeof poolOf>;
    await expect
      .poll(async () => (pool = poolOf((await (await fetch(`${url}/totals`)).json()) as TotalsAnswer)))
      .toMatchObject({ models: ['llama-3.1-8b'], engines: 1 });
    expect(pool?.replay?.measured_seconds).toBeGreaterThan(0);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
  });

  it.each(['SIGINT', 'SIGHUP'] as const)(
    'ends in good order at %s, also if it comes twice within a moment',
    async (signal) => {
      const maitred = new Maitred(['serve', '--port', '0', '--engine', await engineUrl()]);
      const url = await maitred.url();
      maitred.kill(signal);
      maitred.kill(signal);
      expect(await maitred.ended).toBe(0);
      await expect(fetch(url)).rejects.toThrow();
    },
  );

  it('lets a running call finish, refusing new ones, and ends at once at a second signal', async () => {
    const maitred = new Maitred(['serve', '--embedded', '1', '--port', '0']);
    const url = await maitred.url();
    const running = await chat(url, { stream: true, max_tokens: 30_000, ignore_eos: true });
    maitred.kill('SIGTERM');
    await maitred.logged('draining');
    expect((await chat(url)).status).toBe(503);
    const read = running.body!.getReader();
    expect((await read.read()).done).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(maitred.process.exitCode).toBeNull();
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(130);
    let text = '';
    for (let next = await read.read(); !next.done; next = await read.read()) text += Buffer.from(next.value).toString();
    expect(text).toContain('"code":"draining"');
    expect(maitred.stdout).toContain('"msg":"closed"');
  });

  it('exits 1 when the port is taken, or the host is none of ours', async () => {
    const taken = new URL(await engineUrl()).port;
    const maitred = new Maitred(['serve', '--port', taken, '--embedded', '1']);
    expect(await maitred.ended).toBe(1);
    expect(maitred.stderr).toMatch(/^maitred: port \d+ of 127\.0\.0\.1 is taken: end what[^\n]*--port[^\n]*\n$/);
    expect(maitred.stdout).toBe('');
    const elsewhere = new Maitred(['serve', '--port', '0', '--host', '192.0.2.1']);
    expect(await elsewhere.ended).toBe(1);
    expect(elsewhere.stderr).toMatch(/^[^\n]+--host[^\n]+\n$/);
    const unknown = new Maitred(['serve', '--port', '0', '--host', 'no-such-host.invalid']);
    expect(await unknown.ended).toBe(1);
    expect(unknown.stderr).toMatch(/^maitred: no-such-host\.invalid [^\n]+--host[^\n]+\n$/);
  });

  it('outlives the readers of its output', async () => {
    const maitred = new Maitred(['serve', '--embedded', '1', '--port', '0']);
    maitred.process.stderr?.destroy();
    const url = await maitred.url();
    maitred.process.stdout?.destroy();
    expect((await chat(url, { max_tokens: 1 })).status).toBe(200);
    expect((await chat(url, { max_tokens: 1 })).status).toBe(200);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
  });

  it('listens without engines, and says so', async () => {
    const maitred = new Maitred(['serve', '--port', '0']);
    const url = await maitred.url();
    expect(
      (await maitred.logged('no engine is configured: name one with --engine, or run npx maitred init --engine URL'))[
        'level'
      ],
    ).toBe(40);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  });
});

describe('SIGHUP', () => {
  const configured = async (url: string) =>
    (await (await fetch(`${url}/config`)).json()) as { policy: { name: string }; listen: { port: number } };

  it('reads the file again, keeping running calls, what needs a restart, and the embedded engines', async () => {
    const file = configFile('listen: {port: 0}\nembedded: 1\n');
    const maitred = new Maitred(['serve'], { MAITRED_CONFIG: file });
    const url = await maitred.url();
    const running = await chat(url, { stream: true, max_tokens: 30_000, ignore_eos: true });
    let text = '';
    const reading = (async () => {
      for await (const chunk of running.body!) text += Buffer.from(chunk).toString();
    })().catch(() => (text += 'broken'));
    writeFileSync(file, 'listen: {port: 1}\nembedded: 1\npolicy: {name: fcfs-window}\n');
    maitred.kill('SIGHUP');
    const waiting = await maitred.logged('these keys take effect at the next start');
    expect(waiting['keys']).toEqual(['listen.port']);
    expect((await run(['doctor', '--url', url, '--json'])).out).toMatch(
      /"level":"note","subject":"gateway","found":"Since a reload[^"]*listen.port[^"]*","advice":"restart/,
    );
    expect(await configured(url)).toMatchObject({ policy: { name: 'fcfs-window' }, listen: { port: 0 } });
    expect((await chat(url, { max_tokens: 1 })).status).toBe(200);
    const received = text.length;
    await expect.poll(() => text.length).toBeGreaterThan(received + 1000);
    expect(text).not.toMatch(/"error"|broken|\[DONE\]/);
    maitred.kill('SIGKILL');
    await reading;
  });

  it('refuses a bad file with its keys, and keeps the old configuration', async () => {
    const file = configFile('policy: {name: sticky}\n');
    writeFileSync(file, `engines: [{url: "${await engineUrl()}"}]\npolicy: {name: pass-through}\n`);
    const maitred = new Maitred(['serve', '--config', file, '--port', '0']);
    const url = await maitred.url();
    writeFileSync(file, 'admin: {port: x}\npolicy: {name: plas, tenantWeigts: 3}\n');
    maitred.kill('SIGHUP');
    const refused = await maitred.logged('reload refused');
    expect(refused['problems']).toHaveLength(2);
    expect(refused).not.toHaveProperty('err');
    expect((await configured(url)).policy.name).toBe('pass-through');
    expect((await chat(url, { max_tokens: 1 })).status).toBe(200);
    const told = async () => {
      const { status } = (await (await fetch(`${url}/gateway`)).json()) as GatewayState;
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return [
        status.level,
        /last reload was refused.*did you mean tenantWeights\? /.test(status.text),
        / ([01])$/.exec(/^maitred_config_last_reload_successful.*/m.exec(metrics)![0])![1],
      ];
    };
    expect(await told()).toEqual(['warn', true, '0']);
    expect((await run(['doctor', '--url', url, '--json'])).out).toMatch(
      /"level":"warning","subject":"gateway","found":"The last reload was refused[^"]*tenantWeigts[^"]*","advice":"correct the file/,
    );
    writeFileSync(file, `engines: [{url: "${await engineUrl()}"}]\n`);
    maitred.kill('SIGHUP');
    await expect.poll(told).toEqual(['good', false, '1']);
  });
});
