import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../../sidecar/config/load.js';
import { ConfigError, problemText } from '../../../sidecar/config/problems.js';
import { redact } from '../../../sidecar/config/secrets.js';
import { lineOf, pathsIn, problemsIn, write } from './problems.js';

it('says which times a call would wait for in vain', () => {
  const [problem] = problemsIn({ file: write('timeouts: {queueMs: 60000}') });
  expect(problem?.message).toBe(
    'must be at least 600000, starvation.waitMsMax (300000) and admission.turnMs (300000) together: raise it or lower these',
  );
  expect(pathsIn('timeouts: {queueMs: 600000}')).toEqual([]);
});

it('tells contradictions beside faults of single keys, but none with a key that is at fault', () => {
  expect(pathsIn('bogus: 1\nlimits: {queuedMax: 5000, programsMax: 9999}')).toEqual(['bogus', 'limits.programsMax']);
  expect(pathsIn('auth: {keys: 5}\npolicy: {tenantWeights: {a: 2}}')).toEqual(['auth.keys']);
});

it('says what stands for a key that has left', () => {
  const problems = problemsIn({ file: write('discovery: [{kubernetes: {service: vllm}}]') });
  expect(problems.map(({ path }) => path)).toEqual(['discovery[0].dns', 'discovery[0].kubernetes']);
  expect(problems[1]?.message).toContain('headless Service');
});

describe('layers', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['localhost', '127.0.0.1', true],
    ['0.0.0.0', '127.0.0.2', true],
    ['"::"', '[::1]', true],
    ['10.0.0.1', '10.0.0.1', true],
    ['127.0.0.1', '[::1]', false],
    ['10.0.0.1', '127.0.0.1', false],
    ['0.0.0.0', 'gpu-1', false],
  ])('refuses an engine that is the gateway itself: of %s, %s is %s', (host, engine, isSelf) => {
    const found = pathsIn(
      `listen: {host: ${host}, port: 8123}\nengines: [{url: "http://${engine}:8123/v1"}, {url: "http://${engine}:8124"}]`,
    );
    expect(found.filter((path) => path.startsWith('engines'))).toEqual(isSelf ? ['engines[0].url'] : []);
    const operators = pathsIn(`admin: {host: ${host}, port: 8123}\nengines: [{url: "http://${engine}:8123"}]`);
    expect(operators.includes('engines[0].url')).toBe(isSelf);
  });

  it('takes the file over defaults, the environment over the file, flags over both', () => {
    const file = write('listen: {host: 0.0.0.0, port: 1}\npolicy: {firstQuantumMs: 4}\nbalancer: {name: sticky}\n');
    const env = { MAITRED_LISTEN_PORT: '2', MAITRED_BALANCER_NAME: 'least-loaded' };
    const config = loadConfig({ file, env, flags: [{ path: 'listen.port', text: '3', origin: '--port' }] });
    expect(config.listen).toEqual({ host: '0.0.0.0', port: 3 });
    expect(config.balancer.name).toBe('least-loaded');
    expect(config.policy.firstQuantumMs).toBe(4);
  });

  it('tells of variables that override the file, but not of equal ones, nor of those that a flag overrides', () => {
    const file = write('listen: {host: 0.0.0.0, port: 1}\nadmin:\n  token: of-the-file\nlog: {level: warn}\n');
    const env = {
      MAITRED_ADMIN_TOKEN: 'of-the-shell',
      MAITRED_LISTEN_PORT: '1',
      MAITRED_LISTEN_HOST: '::',
      MAITRED_SHADOW_ENABLED: 'false',
    };
    const told: string[] = [];
    const flags = [{ path: 'listen.host', text: '127.0.0.1', origin: '--host' }];
    loadConfig({ file, env, flags, warn: (each) => told.push(problemText(each)) });
    expect(told).toEqual([expect.stringMatching(/^MAITRED_ADMIN_TOKEN: overrides admin\.token of \S+:3:/)]);
    expect(told.join('')).not.toMatch(/of-the/);
    for (const name of ['MAITRED_ADMIN_TOKEN', 'SAME'])
      loadConfig({
        file: write(`admin: {token: env:${name}}`),
        env: { ...env, SAME: 'of-the-shell' },
        warn: ({ path }) => told.push(path),
      });
    expect(told).toHaveLength(1);
  });

  it('finds the file by MAITRED_CONFIG, unless a flag names one', () => {
    expect(loadConfig({ env: { MAITRED_CONFIG: write('embedded: 3') } }).embedded).toBe(3);
    expect(loadConfig({ file: write('embedded: 4'), env: { MAITRED_CONFIG: 'nowhere' } }).embedded).toBe(4);
    expect(loadConfig({ env: { MAITRED_CONFIG: '' } }).embedded).toBe(0);
  });

  it('is frozen to its leaves', () => {
    const config = loadConfig({ file: write('engines: [{url: "http://a", models: [m]}]') });
    const parts = [config, config.limits, config.engines, config.engines[0], config.engines[0]?.models];
    expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
  });

  it('fits the unset keys to the set ones', () => {
    const config = loadConfig({
      file: write('limits: {queuedMax: 7}\nadmission: {windowMax: 1}\nhealth: {backoffMs: 40000}'),
    });
    expect(config.limits).toMatchObject({ queuedMax: 7, queuedPerTenantMax: 7 });
    expect(config.admission).toMatchObject({ windowMin: 1, windowInitial: 1, windowMax: 1 });
    expect(config.health.backoffMsMax).toBe(40_000);
    expect(loadConfig({ file: write('limits: {programsMax: 10}') }).limits.queuedMax).toBe(5);
    expect(loadConfig({ file: write('limits: {queuedMax: 1000000}') }).limits.programsMax).toBe(2_000_000);
  });

  it('prints as a file that gives the same configuration', () => {
    const config = loadConfig({ file: write('engines: [{url: "http://a:1/v1/", window: 3}]\nlimits: {queuedMax: 9}') });
    expect(loadConfig({ file: write(stringify(config)) })).toEqual(config);
  });
});

describe('schema', () => {
  it.each([
    ['listen: {port: 65536}', 'listen.port'],
    ['listen: {port: "80"}', 'listen.port'],
    ['listen: 80', 'listen'],
    ['lisen: {}', 'lisen'],
    ['listen: {prot: 1}', 'listen.prot'],
    ['policy: {firstQuantumMs: .nan}', 'policy.firstQuantumMs'],
    ['policy: {name: plass}', 'policy.name'],
    ['policy: {name: las-decayed}', 'policy.name'],
    ['balancer: {name: round-robin}', 'balancer.name'],
    ['starvation: {beta: 0}', 'starvation.beta'],
    ['admission: {window: many}', 'admission.window'],
    ['engines: {}', 'engines'],
    ['engines: [{}]', 'engines[0].url'],
    ['engines: [{url: "localhost:8000"}]', 'engines[0].url'],
    ['engines: [{url: "http://user:secret@a"}]', 'engines[0].url'],
    ['engines: [{url: "http://a?b"}]', 'engines[0].url'],
    ['engines: [{url: "http://a", id: "a b"}]', 'engines[0].id'],
    ['engines: [{url: "http://a", models: []}]', 'engines[0].models'],
    ['engines: [{url: "http://a"}, {url: "http://b", wat: 1}]', 'engines[1].wat'],
    ['auth: {keys: [{sha256: abc, tenant: t}]}', 'auth.keys[0].sha256'],
    ['identity: {sources: [body, bodi]}', 'identity.sources[1]'],
    ['__proto__: {listen: 1}', '__proto__'],
    ['1: 2', '1'],
    ['cluster: {url: "http://a:6379"}', 'cluster.url'],
    ['cluster: {url: "redis://:secret@a:6379"}', 'cluster.url'],
    ['cluster: {url: "redis://a:6379/x"}', 'cluster.url'],
    ['cluster: {pool: "a}b"}', 'cluster.pool'],
  ])('refuses %s', (text, path) => {
    expect(pathsIn(text)).toEqual([path]);
  });

  it.each([
    ['admission: {windowMin: 9, windowMax: 8}', 'admission.windowMin'],
    ['admission: {windowInitial: 9, windowMax: 8}', 'admission.windowInitial'],
    ['admission: {windowInitial: 2, windowMin: 3}', 'admission.windowMin'],
    ['limits: {queuedPerTenantMax: 9, queuedMax: 8}', 'limits.queuedPerTenantMax'],
    ['limits: {programsMax: 9, queuedMax: 8}', 'limits.programsMax'],
    ['timeouts: {queueMs: 599999}', 'timeouts.queueMs'],
    ['admission: {turnMs: 1500001}', 'timeouts.queueMs'],
    ['starvation: {waitMsMax: 1}\nadmission: {reserveMs: 1600000}', 'timeouts.queueMs'],
    ['health: {backoffMs: 90, backoffMsMax: 80}', 'health.backoffMs'],
    ['admin: {port: 8080}', 'admin.port'],
    ['cluster: {url: "redis://a:6379"}\nembedded: 1', 'cluster.url'],
    ['cluster: {url: "redis://a:6379", caFile: ca.pem}', 'cluster.caFile'],
    ['cluster: {leaseMs: 2999}', 'cluster.leaseMs'],
    ['engines: [{url: "http://a"}, {url: "http://a:80/x"}]', 'engines[1].id'],
    ['engines: [{url: "http://a", id: x}, {url: "http://b", id: x}]', 'engines[1].id'],
    ['identity: {sources: [body, body]}', 'identity.sources[1]'],
    [
      `auth: {keys: [{sha256: ${'a'.repeat(64)}, tenant: t}, {sha256: ${'a'.repeat(64)}, tenant: u}]}`,
      'auth.keys[1].sha256',
    ],
  ])('refuses the contradiction %s', (text, path) => {
    expect(pathsIn(text)).toContain(path);
  });

  it('finds every problem at once, each with the line of its key', () => {
    const text = 'engine:\n  - a\nengines:\n  - kind: vllm\nlisten:\n  prt:\n    1\n  port:\n    x\n';
    const problems = problemsIn({ file: write(text) });
    expect(problems.map((problem) => [problem.path, lineOf(problem)])).toEqual([
      ['engine', 1],
      ['engines[0].url', 4],
      ['listen.prt', 6],
      ['listen.port', 8],
    ]);
  });

  it.each([
    ['listen: {wat: 1}', /known here: host, port$/],
    ['engines: [{url: "http://a", capacity: 1}]', /did you mean capacityTokens\?$/],
    ['discovery: [{dns: {name: a, prt: 1}}]', /did you mean port\?$/],
    ['timeouts: {queueMs: 5s}', /^must be a number of milliseconds from 100 to 86400000, such as \d+$/],
    ['limits: {queuedBytes: 1G}', /^must be a whole number of bytes from 1024 to 10000000000000$/],
    ['admission: {gate: high}', /^must be a number from 0 to 2, such as 0\.\d+$/],
    ['admin: {port: x}', /^must be a whole number from 0 to 65535$/],
    ['engines: http://gpu:1', / list .*"- url: http:\/\/gpu:1"$/],
    ['engines: {url: "http://gpu:1"}', / list .*"- url: http:/],
    ['engines: {gpu: "http://gpu:1"}', / list .*"- url: http:/],
    ['engines: [gpu:1]', /"- url: http:\/\/gpu:1"$/],
    ['engines: ["url:http://gpu:1"]', /"- url: http:\/\/gpu:1"$/],
    ['engines: ["http://u:hunter2@gpu:1"]', /"- url: http:\/\/gpu-1:8000"$/],
    ['engine: http://gpu:1', /did you mean engines, a list/],
    ['auth: {keys: [a]}', /sha256sum/],
    ['engines: [{url: "http://a", key: abc}]', /did you mean apiKey\?$/],
    ['listen.port: 1', /write listen: \{port: …\}$/],
    ['listen: 80', /^must be a mapping with host, port$/],
    ['listen: {host: "[::1]"}', /without \[ \]/],
    ['port: 80', /stands in listen/],
    ['auth: {keys: [{tenant: t, sha256: a, key: sk-1}]}', /64 hex/],
    ['engines: [{url: "http://a:99999"}]', /up to 65535/],
    ['engines: [{url: "http://::1:80"}]', /\[ \] around/],
    ['log: {level: warning}', /did you mean warn\?$/],
    ['admin: {token: 12345678}', /quotes$/],
    ['batches: {folder: ""}', /^must not be empty$/],
    ['auth: {keys: x}', /^must be a list of mappings with sha256, tenant$/],
    ['listen: {port: }', /^has no value/],
    ['listen: {port: "env:PORT"}', /only secrets may/],
    ['admin: {token: short}', /at least 8 characters.*openssl rand/],
    ['admin: {token: "${TOKEN}"}', /env:NAME/],
    ['budget: {tenants: {default: {tokens: many}}}', /^must be a whole number of tokens from 1 to /],
  ])('tells what may stand in the place of %s', (text, told) => {
    expect(problemsIn({ file: write(text) })[0]?.message).toMatch(told);
  });

  it('drops what clients append to a base URL', () => {
    const urls = 'http://a/v1/chat/completions http://b/v1/ http://c/ https://d/api/v1 http://e/v1/chat'.split(' ');
    const { engines } = loadConfig({ flags: [{ path: 'engines', text: urls, origin: '--engine' }] });
    expect(engines.map(({ url }) => url)).toEqual(['http://a', 'http://b', 'http://c', 'https://d/api', 'http://e']);
  });
});

describe('environment', () => {
  it('reads each type of key', () => {
    const config = loadConfig({
      env: {
        MAITRED_ENGINES: 'http://a:1, http://b:2,',
        MAITRED_IDENTITY_SOURCES: 'body,history',
        MAITRED_LIMITS_BODY_BYTES: '2048',
        MAITRED_ADMISSION_GATE: '0.5',
        MAITRED_ADMISSION_WINDOW: '12',
        MAITRED_BALANCER_ADAPT_THRESHOLD: 'false',
        MAITRED_ADMIN_PORT: 'null',
        MAITRED_ADMIN_TOKEN: '1234567890',
        MAITRED_LOG_LEVEL: '',
      },
    });
    expect(config.engines.map(({ url }) => url)).toEqual(['http://a:1', 'http://b:2']);
    expect(config.identity.sources).toEqual(['body', 'history']);
    expect(config.limits.bodyBytes).toBe(2048);
    expect(config.admission).toMatchObject({ gate: 0.5, window: 12 });
    expect(config.balancer.adaptThreshold).toBe(false);
    expect(config.admin).toMatchObject({ port: null, token: '1234567890' });
    expect(config.log.level).toBe('info');
    expect(loadConfig({ env: { MAITRED_ADMISSION_WINDOW: 'adaptive' } }).admission.window).toBe('adaptive');
  });

  it('names the variable of a bad value', () => {
    const env = { MAITRED_LISTEN_PORT: '99999', MAITRED_ENGINES: 'http://a,nonsense', MAITRED_LISTEN_HOSTT: 'x' };
    expect(problemsIn({ env }).map(({ origin, path }) => [origin, path])).toEqual([
      ['MAITRED_LISTEN_HOSTT', ''],
      ['MAITRED_LISTEN_PORT', 'listen.port'],
      ['MAITRED_ENGINES', 'engines[1].url'],
    ]);
  });

  it('leaves alone what Kubernetes sets for a service of our name', () => {
    const env = {
      MAITRED_SERVICE_HOST: '10.0.0.1',
      MAITRED_SERVICE_PORT_HTTP: '8080',
      MAITRED_PORT: 'tcp://10.0.0.1:8080',
      MAITRED_PORT_8080_TCP_ADDR: '10.0.0.1',
    };
    expect(loadConfig({ env })).toEqual(loadConfig({}));
  });

  it.each([
    ['MAITRED_PORT', '9', 'MAITRED_LISTEN_PORT'],
    ['MAITRED_PORT', '', 'MAITRED_LISTEN_PORT'],
    ['MAITRED_POLICY', 'plas', 'MAITRED_POLICY_NAME'],
    ['MAITRED_LISTEN_PROT', '9', 'MAITRED_LISTEN_PORT'],
    ['MAITRED_UPSTREAM', 'http://a', 'docs/CONFIG.md'],
  ])('refuses %s=%s, and tells of %s', (variable, value, told) => {
    const [problem, ...more] = problemsIn({ env: { [variable]: value } });
    expect(more).toEqual([]);
    expect(problem?.origin).toBe(variable);
    expect(problem?.message).toContain(told);
  });
});

it('refuses an address that is none', () => {
  expect(() => loadConfig({ file: write('listen: {host: "NaN\\0"}') })).toThrow('listen.host');
});

describe('secrets', () => {
  const text = `admin: {token: "env:ADMIN"}
engines: [{url: "http://a", apiKey: "env:KEY"}, {url: "http://b", apiKey: plain-secret}]
auth: {keys: [{sha256: ${'b'.repeat(64)}, tenant: t}]}`;

  it('come from the variables that they name', () => {
    const config = loadConfig({ file: write(text), env: { ADMIN: 'admin-secret\n', KEY: 'key-secret' } });
    expect(config.admin.token).toBe('admin-secret');
    expect(config.engines.map(({ apiKey }) => apiKey)).toEqual(['key-secret', 'plain-secret']);
  });

  it('are problems when the variable is not set, or when no header can carry them', () => {
    const problems = problemsIn({ file: write(text), env: { KEY: '' } });
    expect(problems.map((problem) => [problem.path, lineOf(problem)])).toEqual([
      ['admin.token', 1],
      ['engines[0].apiKey', 2],
    ]);
    expect(problems[0]?.message).toContain('ADMIN');
    const [named] = problemsIn({ env: { MAITRED_ADMIN_TOKEN: 'env:NOWHERE' } });
    expect(named).toMatchObject({ path: 'admin.token', origin: 'MAITRED_ADMIN_TOKEN' });
    const unfit = problemsIn({ file: write(text), env: { ADMIN: 'two words', KEY: 'größer' } });
    expect(unfit.map(({ path }) => path)).toEqual(['admin.token', 'engines[0].apiKey']);
  });

  it('never show', () => {
    const config = loadConfig({ file: write(text), env: { ADMIN: 'admin-secret', KEY: 'key-secret' } });
    const shown = stringify(redact(config));
    expect(shown).not.toMatch(/secret|b{64}/);
    expect(config.admin.token).toBe('admin-secret');
    expect((parse(shown) as typeof config).engines[0]).toMatchObject({ url: 'http://a', apiKey: '[redacted]' });
    expect(redact(loadConfig({})).admin.token).toBeNull();
  });

  it('are not in the message of a problem', () => {
    const file = write('admin: {token: hunter2}\nengines: [{url: "http://u:hunter2@a"}]');
    const error = new ConfigError(problemsIn({ file }));
    expect(error.problems).toHaveLength(2);
    expect(error.message).not.toContain('hunter2');
  });
});
