import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../sidecar/config/load.js';
import { run } from '../support/command-line.js';
import { FakeEngine, hang, modelList } from '../support/fake-engine.js';
import { folderOf } from '../support/folder.js';
import { world } from '../sidecar/gateway/world.js';

const init = (...args: readonly string[]) => run(['init', ...args]);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('maitred init', () => {
  it('writes a file for its owner that the gateway accepts, and tells its secrets once', async () => {
    const file = join(folderOf({}), 'maitred.yaml');
    const { code, out, err } = await init(
      '-o',
      file,
      '-e',
      'http://127.0.0.1:1/v1',
      '-e',
      'http://127.0.0.1:2',
      '--role',
      'gateway',
      '--tenant',
      'acme',
      '--tenant',
      'beta',
    );
    expect(code).toBe(0);
    const config = loadConfig({ file });
    expect(config.engines).toMatchObject([{ url: 'http://127.0.0.1:1' }, { url: 'http://127.0.0.1:2' }]);
    expect(config.listen).toEqual({ host: '0.0.0.0', port: 8080 });
    expect(err).toMatch(/\nNext:\n  npx maitred doctor --config \S+\n  npx maitred serve --config \S+\n$/);
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
    const { out } = await init('-o', '-', '-e', 'http://127.0.0.1:1');
    expect(parse(out)).toEqual({ listen: { host: '127.0.0.1', port: 8080 }, engines: [{ url: 'http://127.0.0.1:1' }] });
    expect(out).toContain('# Port to listen on; 0 picks a free one.');
    expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });

  it('names secrets by their variables', async () => {
    const { out, err } = await init('-o', '-', '-e', 'http://a', '--engine-key', 'ENGINE_KEY', '--admin-token', 'A');
    expect(parse(out)).toMatchObject({ admin: { token: 'env:A' }, engines: [{ apiKey: 'env:ENGINE_KEY' }] });
    expect(err).toMatch(/export A=\$\(openssl [^\n]* at least 8 characters\n  export ENGINE_KEY=/);
    expect(err).toMatch(/were not asked, as ENGINE_KEY is not set/);
  });

  it('tells of each engine in a line if it is unreached, hangs, refuses its key or is of unknown size', async () => {
    const keyed = await FakeEngine.start({ '/health': 200, '/v1/models': 401 });
    const unsized = await FakeEngine.start({ '/health': 200, '/v1/models': modelList(['m']) });
    const hanging = await FakeEngine.start({});
    hanging.all = hang;
    const urls = ['http://127.0.0.1:1', keyed.url, unsized.url, hanging.url];
    const file = join(folderOf({}), 'maitred.yaml');
    const { code, errors } = await init('-o', file, ...urls.flatMap((each) => ['-e', each]));
    expect(code).toBe(0);
    expect(loadConfig({ file }).engines.map((engine) => engine.url)).toEqual(urls);
    const told = [
      /connection refused/,
      /answered 401: engines\[\]\.apiKey is missing \(run init again.*apiKey/,
      /unknown size.*capacityTokens/,
      /no answer within 1 s/,
    ];
    const about = errors.filter((line) => line.startsWith('maitred: engine '));
    expect(about).toEqual(told.map((words) => expect.stringMatching(words) as string));
    expect(errors).toContainEqual(expect.stringMatching(/^engine \S+: vllm, detected; serves m$/));
  });

  it('refuses a gateway in the place of an engine, and writes nothing', async () => {
    const file = join(folderOf({}), 'maitred.yaml');
    const { code, out, errors } = await init('-o', file, '-e', (await world([])).url, '-e', 'http://127.0.0.1:1');
    expect([code, out, errors]).toEqual([1, '', [expect.stringMatching(/is a maitred gateway.*nothing is written/)]]);
    expect(existsSync(file)).toBe(false);
  });

  it('refuses an engine where the gateway is to listen, and tells of --port', async () => {
    const { url } = await FakeEngine.start({ '/health': 200, '/v1/models': modelList(['m']) });
    const { code, out, err } = await init('-o', '-', '-e', url, '--port', new URL(url).port);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/this gateway is to listen.*--port/)]);
  });

  it('warns of a port that another program has', async () => {
    const [engine, { url }] = [await FakeEngine.start({ '/v1/models': modelList(['m']) }), await FakeEngine.start({})];
    const { code, errors } = await init('-o', '-', '-e', engine.url, '--port', new URL(url).port);
    expect([code, errors]).toEqual([0, expect.arrayContaining([expect.stringMatching(/^maitred: listen: .*--port/)])]);
  });

  it('warns of a variable that will override what it writes', async () => {
    const { errors } = await run(['init', '-o', '-', '-e', 'http://127.0.0.1:1', '--admin-token'], {
      MAITRED_ADMIN_TOKEN: 'of-this-shell',
    });
    expect(errors).toContainEqual(expect.stringMatching(/^maitred: MAITRED_ADMIN_TOKEN: overrides admin\.token/));
  });

  it('asks engines with their key', async () => {
    const { url, requests } = await FakeEngine.start({ '/v1/models': modelList(['m']) });
    const { err } = await run(['init', '-o', '-', '-e', url, '--engine-key', 'ENGINE_KEY'], {
      ENGINE_KEY: 'of-the-engine',
    });
    expect(err).not.toContain('export');
    expect(requests).toContain('GET /v1/models Bearer of-the-engine');
    const keyed = await FakeEngine.start({ '/health': 200, '/v1/models': 401 });
    const wrong = await run(['init', '-o', '-', '-e', keyed.url, '--engine-key', 'ENGINE_KEY'], {
      ENGINE_KEY: 'wrong',
    });
    expect(wrong.err).toContain('engines[].apiKey is refused (correct ENGINE_KEY)');
  });

  it('replaces nothing', async () => {
    const file = join(folderOf({ 'old.yaml': 'log: {level: warn}\n' }), 'old.yaml');
    expect((await init('-o', file, '-e', 'http://a')).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('log: {level: warn}\n');
  });

  it.each([
    ['', /--engine/],
    ['-e ftp://x', /: --engine: must be an http/],
    ['-e gpu-1', /did you mean http:\/\/gpu-1\?/],
    ['-e http://a --tenant a/b', /--tenant: auth\.keys\[0\]\.tenant/],
    ['-e http://a --engine-key sk-secret', /name of an environment variable/],
    ['-e http://a --engine-key sk1secret', /name of an environment variable/],
    ['-e http://a,http://b', /must be one URL/],
    ['-e a:1,b:2', /must be one URL/],
    ['-e htp://a', /did you mean http\?/],
    ['-e http://user@a', /without user, query or fragment(?!.*did you mean)/],
    ['-e http://a --admin-token MAITRED_TOKEN', /MAITRED_TOKEN/],
    ['-e http://a --role gatway', /Did you mean gateway/i],
    ['-e http://a --tenant a --tenant a', /--tenant/],
    ['-e http://a --out no-such/x.yaml', /the folder no-such does not exist/],
  ])('refuses %j, and writes nothing', async (line, message) => {
    const file = join(folderOf({}), 'maitred.yaml');
    const out = line.includes('--out') ? [] : ['-o', file];
    const { code, err } = await init(...out, ...line.split(' ').filter((word) => word !== ''));
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });
});
