import { createHash } from 'node:crypto';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { AT_ZERO } from '../../sidecar/discovery/discovery.js';
import { DnsServer } from '../sidecar/discovery/dns-server.js';
import { run } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { chat, cleanUp, world } from '../sidecar/gateway/world.js';
import { CONFIG_INFO, examine, vllm } from './examine.js';

describe('maitred doctor', () => {
  it('is content with an engine that has all it needs', async () => {
    const engine = await vllm();
    const { code, about, levels } = await examine(['--engine', engine.url]);
    expect([code, levels.has('warning'), levels.has('broken')]).toEqual([0, false, false]);
    expect(about('vllm, detected')).toHaveLength(1);
    expect(about('1,600 tokens')).toHaveLength(1);
    expect(engine.requests.filter((each) => each.startsWith('POST'))).toHaveLength(2);
  });

  it('tells what has no effect, and servers of shared state and traces that cannot be reached', async () => {
    const { url } = await vllm();
    const dead = { cluster: { url: 'redis://127.0.0.1:1' }, tracing: { otlp: { url: 'http://127.0.0.1:1' } } };
    const policy = { name: 'pass-through', tenants: 'weighted' };
    const admission = { gate: 0, window: 1 };
    const { code, about } = await examine([
      '--config',
      fileOf('dead.yaml', stringify({ engines: [{ url }], policy, admission, ...dead })),
    ]);
    expect(about('admission.gate: is 0')).toMatchObject([{ level: 'warning' }]);
    expect(about('one call at a time')).toMatchObject([{ level: 'note' }]);
    expect([code, about('not scheduled: tenants’ weights have no effect')]).toMatchObject([0, [{ level: 'note' }]]);
    const refused = { level: 'warning', found: expect.stringContaining('connection refused') as string };
    expect(about('cannot be reached')).toMatchObject([refused, refused]);
    const alive = { cluster: { url: url.replace('http', 'redis') }, tracing: { otlp: { url } } };
    const file = fileOf('alive.yaml', stringify({ engines: [{ url }], ...alive, log: { level: 'warn' } }));
    const fine = await examine(['--config', file], { MAITRED_LOG_LEVEL: 'info' });
    expect(fine.about('cannot be reached')).toEqual([]);
    expect(fine.about('overrides log.level')).toMatchObject([{ level: 'warning', subject: 'MAITRED_LOG_LEVEL' }]);
  });

  it('tells a gate above the KV cache, and objectives that every call reaches sooner', async () => {
    const { url } = await vllm();
    const objectives = { workflows: { rag: 500_000, chat: 5000 }, tenants: { lab: 300_001 } };
    const auth = { keys: [{ tenant: 'lab', sha256: 'a'.repeat(64) }] };
    const of = (more: object) =>
      examine(['--config', fileOf('late.yaml', stringify({ engines: [{ url }], auth, objectives, ...more }))]);
    const { about } = await of({ admission: { gate: 1.5 } });
    expect(about('admission.gate: is 1.5')).toMatchObject([{ level: 'warning' }]);
    const late = ['objectives.workflows.rag', 'objectives.tenants.lab'].map((subject) => ({ level: 'note', subject }));
    expect(about('has no effect')).toMatchObject(late);
    expect((await of({ admission: { gate: 1 } })).about('admission.gate')).toEqual([]);
    expect((await of({ policy: { foresight: 'declared' } })).about('has no effect')).toEqual([]);
  });

  it('tells all faults of a file in one run, and of the engines whose keys are right', async () => {
    const { url } = await vllm();
    const dead = 'http://127.0.0.1:1';
    const engines = [
      { url: 'http://u:p@h' },
      { url },
      { url: dead, id: 'dead' },
      { url, id: 'dead' },
      { url, id: 'keyed', apiKey: 'env:NOT_SET' },
    ];
    const cluster = { url: 'redis://127.0.0.1:1' };
    const access = {
      auth: { keys: ['a'] },
      admin: { token: 'short' },
      limits: { queuedMax: 0 },
      admission: { gate: 0 },
    };
    const file = {
      bogus: 1,
      engines,
      cluster,
      ...access,
      batches: { folder: join(dirname(fileOf('faults', '')), 'batches') },
    };
    const taken = { MAITRED_LISTEN_PORT: new URL((await vllm()).url).port };
    const { code, findings, about } = await examine(['--config', fileOf('faults.yaml', stringify(file))], taken);
    expect(code).toBe(1);
    for (const each of [
      'bogus: is not a known key',
      'engines[0].url: must be',
      'engines[3].id: "dead" is the id of',
      'auth.keys[0]: must be',
      'admin.token: must have',
      'limits.queuedMax: must be',
      'admission.gate: is 0',
      'is taken',
      'NOT_SET, which is not set',
      'cluster.address: is needed',
      `${dead} is not healthy`,
    ])
      expect([each, about(each).length]).toEqual([each, 1]);
    expect(findings.some(({ subject }) => subject === 'engine keyed')).toBe(false);
    expect(about('vllm, detected')).toHaveLength(1);
    const misspelt = await examine(['--engine', url], { MAITRED_LISTN_PORT: '1' });
    expect([misspelt.code, misspelt.about('vllm, detected').length]).toEqual([1, 1]);
  });

  it('recommends to start a gateway only where none runs', async () => {
    const file = fileOf('next.yaml', stringify({ engines: [{ url: (await vllm()).url }] }));
    const next = async (port: string, ...more: string[]) =>
      (await run(['doctor', '--config', file, ...more], { MAITRED_LISTEN_PORT: port })).out.split('Next: ')[1];
    const { url } = await vllm();
    expect(await next('0')).toMatch(/ serve --config \S+\n$/);
    expect(await next('0', '--engine', url)).toContain(`--engine ${url}`);
    expect(await next(new URL((await world([])).url).port)).toBeUndefined();
  });

  it('tells a port that is not free: an engine has it, another program, or a gateway', async () => {
    const { url, requests } = await vllm();
    const { port } = new URL(url);
    const env = { MAITRED_LISTEN_PORT: port };
    const own = await examine(['--engine', url], env);
    expect([own.code, own.about('vllm, detected').length, own.about('listen: ')]).toMatchObject([
      0,
      1,
      [{ level: 'warning', advice: expect.stringContaining('--port') as string }],
    ]);
    const file = fileOf(
      'port.yaml',
      stringify({ listen: { port: Number(port) }, engines: [{ url: (await vllm()).url }] }),
    );
    const token = 'token-of-operators';
    const taken = await examine(['--config', file], { ...env, MAITRED_ADMIN_TOKEN: token });
    expect(requests.filter((each) => each.includes(token))).toEqual([]);
    expect([taken.code, taken.about('listen: ')]).toMatchObject([
      1,
      [{ level: 'broken', found: expect.stringContaining('is taken') as string }],
    ]);
    const engine = await vllm();
    const admin = { token: 'a-long-token' };
    const gateway = (await world([engine], { admin })).url;
    const atGateway = { MAITRED_LISTEN_PORT: new URL(gateway).port };
    const other = await examine(['--config', file], atGateway);
    expect([other.code, other.about('listen: ')]).toMatchObject([
      1,
      [{ level: 'broken', advice: expect.stringMatching(/^end what runs there/) as string }],
    ]);
    const same = fileOf('same.yaml', stringify({ admin, engines: [{ url: engine.url }] }));
    const runs = await examine(['--config', same], atGateway);
    expect([runs.code, runs.about('listen: ')]).toMatchObject([
      0,
      [{ level: 'note', found: expect.stringContaining(gateway) as string }],
    ]);
    expect((await examine(['--url', gateway, '--config', file], env)).about('listen: ')).toEqual([]);
    const away = await examine(['--config', file], { MAITRED_ADMIN_PORT: '1', MAITRED_ADMIN_HOST: '192.0.2.1' });
    expect(away.about('admin: ')).toMatchObject([{ advice: expect.stringContaining('(admin.host)') as string }]);
  });

  it('tells an engine that is named twice, and one of another kind than it is told to be', async () => {
    const { url } = await vllm();
    const engines = [
      { url },
      { url: `${url.replace('127.0.0.1', 'localhost')}/v1`, id: 'again' },
      { url, id: 'other', kind: 'sglang' },
    ];
    const { about, findings } = await examine(['--config', fileOf('twice.yaml', stringify({ engines }))]);
    expect(about('is another one too')).toMatchObject([{ subject: 'engine again' }, { subject: 'engine other' }]);
    expect(about('answers as vllm, not sglang')).toMatchObject([{ level: 'warning', subject: 'engine other' }]);
    expect(findings.filter(({ level, subject }) => level !== 'ok' && subject === 'engine other')).toHaveLength(2);
    expect(about('sglang;')).toEqual([]);
  });

  it('tells a folder of batches in which nothing can be written', async () => {
    const { url } = await vllm();
    const of = (folder: string) =>
      examine(['--config', fileOf('batches.yaml', stringify({ engines: [{ url }], batches: { folder } }))]);
    const file = fileOf('taken', '');
    const { code, about } = await of(join(file, 'batches'));
    expect([code, about('batches.folder')]).toMatchObject([
      1,
      [{ level: 'broken', found: expect.stringContaining(`${file} is no folder: `) as string }],
    ]);
    const fresh = join(dirname(file), 'new', 'batches');
    expect([(await of(fresh)).code, existsSync(fresh)]).toEqual([0, false]);
  });

  it('looks at sources of engines, and at the engines that they find', async () => {
    const engine = await vllm({ '/metrics': CONFIG_INFO });
    const dns = await DnsServer.start();
    cleanUp(() => dns.close());
    dns.answer = [{ type: 'SRV', value: `0 ${new URL(engine.url).port} 127.0.0.1` }];
    const source = { name: 'e.example', type: 'SRV', servers: [dns.address] };
    const absent = { name: 'x.example', port: 1, servers: [dns.address] };
    const atZero = { dns: { ...absent, name: 'zero.example' }, models: ['m'] };
    const config = fileOf('maitred.yaml', stringify({ discovery: [{ dns: source }, { dns: absent }, atZero] }));
    const { code, about } = await examine(['--config', config, '--no-calls']);
    expect(code).toBe(1);
    expect(about('dns:e.example: engines: 1')).toMatchObject([{ level: 'ok' }]);
    expect(about(`${new URL(engine.url).host}: vllm, detected`)).toHaveLength(1);
    expect(about('dns:x.example:1:')).toMatchObject([
      { level: 'broken', found: expect.stringContaining('ENODATA') as string },
    ]);
    expect(about('none is configured')).toEqual([]);
    expect(about(AT_ZERO)).toMatchObject([{ level: 'note', subject: 'discovery dns:zero.example:1' }]);
    const { url } = await world([], { discovery: [atZero] });
    expect(await examine(['--url', url])).toMatchObject({ code: 0 });
    chat(url, { model: 'm' }).catch(() => undefined);
    const waits = async () => (await examine(['--url', url])).about('1 call waits');
    await expect.poll(waits).toMatchObject([{ level: 'warning', advice: 'start an engine that serves its model' }]);
  });

  it('finds secrets that anyone may read, guess or go without', async () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const keys = `[{sha256: ${hash('')}, tenant: a}, {sha256: ${hash('short-token')}, tenant: b}]`;
    const file = fileOf('maitred.yaml', `admin: {token: short-token}\nauth: {keys: ${keys}}\n`);
    chmodSync(file, 0o644);
    const { code, about, findings } = await examine(['--config', file], {});
    expect(code).toBe(1);
    expect(about('admin.token in plain text')).toMatchObject([
      { level: 'warning', advice: expect.stringContaining('chmod') as string },
    ]);
    expect(about('the hash of an empty key')).toMatchObject([{ level: 'broken' }]);
    expect(about('11 characters')).toHaveLength(1);
    expect(about('is an API key too')).toHaveLength(1);
    expect(JSON.stringify(findings)).not.toContain('short-token');
    chmodSync(file, 0o600);
    expect((await examine(['--config', file])).about('as text')).toEqual([]);
    writeFileSync(file, 'listen: {port: 0, host: 0.0.0.0}\nadmin: {port: 0, host: 0.0.0.0}\n');
    const open = await examine(['--config', file]);
    expect(open.about('listen.host')).toMatchObject([{ level: 'warning' }]);
    expect(open.about('admin.host')).toMatchObject([{ level: 'warning' }]);
    writeFileSync(file, 'listne: {port: 0}\nadmn: {port: 0}\n');
    expect(await examine(['--config', file])).toMatchObject({ code: 1, levels: new Set(['broken']) });
    expect((await run(['doctor', '--config', file])).out.match(/->/g)).toHaveLength(1);
    const { code: gone, about: missing } = await examine(['--config', `${file}.no`]);
    expect([gone, missing('no such file')]).toMatchObject([
      1,
      [{ level: 'broken', found: expect.stringContaining(`--out ${file}.no`) as string }],
    ]);
    writeFileSync(file, 'engines:\n  - url: a\n    url: b\ndiscovery:\n      - url: c\n        url: d\n');
    expect((await run(['doctor', '--config', file])).out).toMatch(/ > 3 \|[^]* > 6 \|/);
    writeFileSync(file, 'listen:\n  host: a\n port: 0\n');
    expect((await run(['doctor', '--config', file])).out).toMatch(
      /column 2[^]*\n {9}> 3 \| {2}port: 0\n {9}-> [^]*npx maitred\s+config --config/,
    );
  });
});

describe('maitred doctor without engines', () => {
  it('names the flag that is wrong, and what it should be', async () => {
    const { code, out, errors } = await run(['doctor', '--engine', '127.0.0.1:8141']);
    expect([code, out, errors]).toEqual([2, '', [expect.stringMatching(/--engine: .*http:\/\/127.0.0.1:8141/)]]);
  });

  it('counts the rows that it shows', async () => {
    const engines = await Promise.all([vllm(), vllm()]);
    const { out } = await run(['doctor', ...engines.flatMap(({ url }) => ['--engine', url])], {
      MAITRED_LISTEN_PORT: '0',
    });
    expect(out.match(/^ok {2,}/gm)).toHaveLength(Number(/(\d+) ok\n/.exec(out)?.[1]));
  });

  it('is broken, and says how to name some or try it out', async () => {
    const { code, about } = await examine([]);
    expect([code, about('none is configured')]).toMatchObject([
      1,
      [{ level: 'broken', advice: expect.stringMatching(/--engine URL.*--embedded 2/) as string }],
    ]);
    const { errors, out } = await run(['doctor'], { MAITRED_LISTEN_PORT: '0' });
    expect(out).toMatch(/^1 broken, 1 ok\n/);
    expect(errors).toEqual([]);
  });
});
