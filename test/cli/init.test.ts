import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { askEngines } from '../../cli/init/answers.js';
import { probe } from '../../cli/init/probe.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { configSchema } from '../../sidecar/config/index.js';
import { engine } from '../sim/client.js';
import { fakeEngine, world } from '../sidecar/gateway/world.js';
import { run } from '../support/command-line.js';
import { folderOf } from '../support/folder.js';

const init = (...args: readonly string[]) => run(['init', ...args]);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('maitred init', () => {
  it('writes a file for its owner that the gateway accepts, with the kind that the engine has', async () => {
    const { url } = await engine();
    const file = join(folderOf({}), 'maitred.yaml');
    const { code, out, err } = await init('-o', file, '-e', `${url}/v1`, '-e', 'http://127.0.0.1:9', '--role', 'gateway', '--tenant', 'acme', '--tenant', 'beta'); // prettier-ignore
    expect(code).toBe(0);
    const config = loadConfig({ file });
    expect(config.engines).toMatchObject([
      { url, kind: 'vllm' },
      { url: 'http://127.0.0.1:9', kind: 'auto' },
    ]);
    expect(config.listen).toEqual({ host: '0.0.0.0', port: 8080 });
    // First what is amiss, then what comes next.
    expect(err).toMatch(/no answer from http:\/\/127\.0\.0\.1:9: [^\n]*\nNext: npx maitred doctor [^\n]*\nThen: npx maitred serve [^\n]*\n$/); // prettier-ignore
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The printed keys are those of the hashes, and nowhere in the file.
    for (const { tenant, sha256: hash } of config.auth.keys) {
      const key = new RegExp(`${tenant}  (\\S+)`).exec(out)?.[1] ?? '';
      expect(sha256(key)).toBe(hash);
      expect(readFileSync(file, 'utf8')).not.toContain(key);
    }
    expect(config.auth.keys.map(({ tenant }) => tenant)).toEqual(['acme', 'beta']);
    expect(out).toContain(config.admin.token);
  });

  it('needs no token as a sidecar, and says so with comments of CONFIG.md', async () => {
    const { out } = await init('-o', '-', '--embedded', '2');
    expect(parse(out)).toEqual({ listen: { host: '127.0.0.1', port: 8080 }, embedded: 2 });
    expect(out).toContain('# Port to listen on; 0 picks a free one.');
    expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });

  it('suggests keys that work as they stand', async () => {
    const { out } = await init('-o', '-', '--embedded', '2');
    const suggested = out.slice(out.indexOf('# policy:')).replaceAll(/^# /gm, '');
    const defaults = configSchema.parse({}) as unknown as Record<string, unknown>;
    expect(Object.keys(parse(suggested) as object).length).toBeGreaterThan(5);
    expect(defaults).toMatchObject(parse(suggested) as object);
  });

  it('names secrets by their variables', async () => {
    const { out, err } = await init('-o', '-', '-e', 'http://a', '--no-probe', '--engine-key', 'ENGINE_KEY', '--admin-token', 'ADMIN_TOKEN'); // prettier-ignore
    const values = { admin: { token: 'env:ADMIN_TOKEN' }, engines: [{ url: 'http://a', kind: 'auto', apiKey: 'env:ENGINE_KEY' }] }; // prettier-ignore
    expect(parse(out)).toMatchObject(values);
    expect(err).toMatch(/set ADMIN_TOKEN[\s\S]*set ENGINE_KEY/);
  });

  it('replaces nothing unless it is forced, and then what a link points to', async () => {
    const folder = folderOf({ 'old.yaml': 'log: {level: warn}\n' });
    const link = join(folder, 'link.yaml');
    symlinkSync(join(folder, 'old.yaml'), link);
    expect((await init('-o', link, '--embedded', '1')).code).toBe(2);
    expect(readFileSync(link, 'utf8')).toBe('log: {level: warn}\n');
    const forced = await init('-o', link, '--embedded', '1', '--force');
    expect([forced.code, forced.err]).toEqual([0, expect.stringMatching(/\nWrote .*\nNext: npx maitred serve .*\n$/)]);
    expect(loadConfig({ file: join(folder, 'old.yaml') }).embedded).toBe(1);
    writeFileSync(join(folder, 'old.yaml'), '');
    expect(statSync(join(folder, 'old.yaml')).mode & 0o777).toBe(0o600);
  });

  it('refuses a gateway as an engine, and writes nothing', async () => {
    const { url } = await world([await fakeEngine()]);
    const file = join(folderOf({}), 'maitred.yaml');
    expect(await init('-o', file, '-e', url)).toMatchObject({ code: 2, err: `maitred: ${url} is a maitred gateway, not an engine\n` }); // prettier-ignore
    expect(existsSync(file)).toBe(false);
  });

  it('asks again on a terminal for engines that are none', async () => {
    const { url: gateway } = await world([await fakeEngine()]);
    const { url } = await engine();
    const stdin = new PassThrough();
    const answers = [gateway, `${url} ${gateway}`, url];
    let told = '';
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin);
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      told += String(text);
      if (String(text).startsWith('Base URLs')) setImmediate(() => stdin.write(`${answers.shift()}\n`));
      return true;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const taken = await askEngines((urls) => Promise.all(urls.map((each) => probe({ url: each, kind: 'auto' }))));
    expect(taken).toMatchObject([{ kind: 'vllm' }]);
    expect(told.match(/is a maitred gateway, not an engine/g)).toHaveLength(2);
  });

  it.each([
    ['', /--engine/],
    ['-e ftp://x', /engines\[0\]\.url/],
    ['--embedded 1 --tenant a/b', /auth\.keys\[0\]\.tenant/],
    ['--embedded 1 --engine-key sk-secret', /name of an environment variable/],
    ['--embedded 1 --admin-token MAITRED_TOKEN', /MAITRED_TOKEN/],
    ['--embedded 0', /--embedded/],
    ['--embedded 1 --role gatway', /Did you mean gateway/i],
  ])('refuses %j, and writes nothing', async (line, message) => {
    const file = join(folderOf({}), 'maitred.yaml');
    const { code, err } = await init('-o', file, ...line.split(' ').filter((word) => word !== ''));
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });
});
