import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderOf } from '../support/folder.js';
import { ROOT } from '../support/tree.js';

/**
 * scripts/ensure.mjs in a clone with two sources, an npm that installs what the lock file says without a network, and a
 * compiler that copies. Both note that they ran in `ran.log`.
 */
let clone: string;

const NPM = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
appendFileSync('ran.log', \`npm \${process.argv[2]}\\n\`);
if (process.env.OFFLINE) process.exit(1);
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules/typescript/bin', { recursive: true });
writeFileSync('node_modules/typescript/bin/tsc', readFileSync('tsc.cjs'));
mkdirSync('node_modules/vite/bin', { recursive: true });
writeFileSync('node_modules/vite/bin/vite.js', readFileSync('vite.cjs'));
const { '': root, ...packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
`;

const TSC = `
const fs = require('node:fs');
fs.appendFileSync('ran.log', 'tsc\\n');
if (!fs.existsSync('dist/.builder')) process.exit(3);
for (const file of fs.readdirSync('src')) {
  if (!file.endsWith('.ts')) continue;
  const text = fs.readFileSync('src/' + file, 'utf8');
  if (text === 'error') process.exit(2);
  fs.mkdirSync('dist/src', { recursive: true });
  fs.writeFileSync('dist/src/' + file.replace(/ts$/, 'js'), text);
}
if (fs.existsSync('cli/main.ts')) {
  fs.mkdirSync('dist/cli', { recursive: true });
  fs.writeFileSync('dist/cli/main.js', fs.readFileSync('cli/main.ts'));
}
`;

const VITE = `
const fs = require('node:fs');
fs.appendFileSync('ran.log', 'vite\\n');
if (fs.readFileSync('ui/main.tsx', 'utf8') === 'error') process.exit(1);
fs.mkdirSync('dist/ui', { recursive: true });
fs.writeFileSync('dist/ui/index.html', fs.readFileSync('ui/main.tsx'));
`;

function put(file: string, text: string): void {
  mkdirSync(dirname(join(clone, file)), { recursive: true });
  writeFileSync(join(clone, file), text);
}
const has = (file: string) => existsSync(join(clone, file));

function lock(packages: Record<string, object>): void {
  const entries: Record<string, object> = { '': {} };
  for (const [name, entry] of Object.entries(packages))
    entries[`node_modules/${name}`] = { integrity: 'sha512-x', ...entry };
  put('package-lock.json', JSON.stringify({ packages: entries }));
}

/** Runs it. What ran, and how it ended. */
const ensure = (env: Record<string, string> = {}) => script('ensure', [], env);
function script(name: string, args: readonly string[], env: Record<string, string> = {}) {
  rmSync(join(clone, 'ran.log'), { force: true });
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(clone, `scripts/${name}.mjs`), ...args], {
    env: { PATH: process.env['PATH'], npm_execpath: join(clone, 'npm-cli.mjs'), ...env },
    encoding: 'utf8',
  });
  const ran = has('ran.log') ? readFileSync(join(clone, 'ran.log'), 'utf8').trim().split('\n') : [];
  return { ran, status, output: stderr + stdout };
}

/** The rooms that the binary is built of. */
const { references } = JSON.parse(readFileSync(join(ROOT, 'cli/tsconfig.json'), 'utf8')) as {
  references: { path: string }[];
};
const ROOMS = ['cli', ...references.map(({ path }) => basename(path))];
const READY = { ran: [], status: 0, output: '' };
const TYPESCRIPT = { version: '6.0.0', dev: true };

beforeEach(() => {
  clone = folderOf({});
  for (const name of ['ensure', 'start'])
    cpSync(join(ROOT, `scripts/${name}.mjs`), join(clone, `scripts/${name}.mjs`), { recursive: true });
  put('npm-cli.mjs', NPM);
  put('tsc.cjs', TSC);
  put('vite.cjs', VITE);
  put('tsconfig.base.json', '{}');
  for (const room of ROOMS) put(`${room}/tsconfig.json`, room === 'cli' ? JSON.stringify({ references }) : '{}');
  put('src/a.ts', 'a');
  put('src/b.ts', 'b');
  lock({ typescript: TYPESCRIPT, yaml: { version: '1.0.0' }, other: { version: '1.0.0', optional: true } });
});

describe('scripts/ensure.mjs', () => {
  it('installs and builds a fresh clone, and is silent and offline the second time', () => {
    expect(ensure()).toMatchObject({ ran: ['npm ci', 'tsc'], status: 0 });
    expect(readFileSync(join(clone, 'dist/src/a.js'), 'utf8')).toBe('a');
    expect(has('dist/.builder')).toBe(false);
    expect(ensure({ OFFLINE: '1' })).toEqual(READY);
  });

  it('makes a binary that can be run, each time', () => {
    put('cli/main.ts', '');
    for (let build = 0; build < 2; build += 1) {
      expect(ensure().ran).toContain('tsc');
      expect(statSync(join(clone, 'dist/cli/main.js')).mode & 0o111).toBe(0o111);
      rmSync(join(clone, 'dist'), { recursive: true });
    }
  });

  it('installs when a package was added, removed or changed under its version', () => {
    ensure();
    for (const packages of [
      { typescript: TYPESCRIPT, yaml: { version: '1.0.1' } },
      { typescript: TYPESCRIPT, yaml: { version: '1.0.0' }, zod: { version: '4.0.0' } },
      { typescript: TYPESCRIPT, zod: { version: '4.0.0' } },
      { typescript: TYPESCRIPT, zod: { version: '4.0.0', integrity: 'sha512-y' } },
    ]) {
      lock(packages);
      expect(ensure().ran).toContain('npm ci');
    }
  });

  it('builds when a source of any room changed', () => {
    ensure();
    for (const room of ROOMS) {
      put(`${room}/c.ts`, 'changed');
      expect(ensure().ran, room).toEqual(['tsc']);
    }
  });

  it('leaves nothing of a source that was deleted', () => {
    ensure();
    put('dist/src/b.d.ts', '');
    put('dist/src/b.js.map', '');
    rmSync(join(clone, 'src/b.ts'));
    expect(ensure().ran).toEqual(['tsc']);
    expect([has('dist/src/a.js'), has('dist/src/b.js'), has('dist/src/b.d.ts'), has('dist/src/b.js.map')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('starts from a built clone without development packages, and installs them only to build', () => {
    ensure();
    rmSync(join(clone, 'node_modules/typescript'), { recursive: true });
    put(
      'node_modules/.package-lock.json',
      '{"packages":{"node_modules/yaml":{"version":"1.0.0","integrity":"sha512-x"}}}',
    );
    expect(ensure()).toEqual(READY);
    put('src/a.ts', 'changed');
    expect(ensure().ran).toEqual(['npm ci', 'tsc']);
  });

  it('builds the page when one of its files changed, and nothing else', () => {
    put('ui/main.tsx', 'page');
    // Both builds run at once.
    expect(ensure().ran.sort()).toEqual(['npm ci', 'tsc', 'vite']);
    expect(ensure({ OFFLINE: '1' })).toEqual(READY);
    put('ui/main.tsx', 'error');
    put('src/a.ts', 'changed');
    expect(ensure()).toMatchObject({ status: 1 });
    expect(ensure()).toMatchObject({ ran: ['vite'], status: 1 });
    put('ui/main.tsx', 'changed');
    expect(ensure()).toMatchObject({ ran: ['vite'], status: 0 });
    expect(readFileSync(join(clone, 'dist/ui/index.html'), 'utf8')).toBe('changed');
    rmSync(join(clone, 'dist/ui'), { recursive: true });
    expect(ensure().ran).toEqual(['vite']);
  });

  it('refuses a Node that is too old before anything else', () => {
    const pretend = (version: string) =>
      `--import=data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`;
    expect(ensure({ NODE_OPTIONS: pretend('20.18.3') })).toMatchObject({ ran: [], status: 1 });
    expect(ensure({ NODE_OPTIONS: pretend('21.0.0') })).toMatchObject({ ran: ['npm ci', 'tsc'], status: 0 });
  });

  it('fails with the install, and tries again the next time', () => {
    expect(ensure({ OFFLINE: '1' })).toMatchObject({ ran: ['npm ci'], status: 1 });
    expect(ensure()).toMatchObject({ ran: ['npm ci', 'tsc'], status: 0 });
  });

  it('fails with the build, and tries again the next time', () => {
    ensure();
    put('src/a.ts', 'error');
    expect(ensure()).toMatchObject({ ran: ['tsc'], status: 1 });
    expect(ensure()).toMatchObject({ ran: ['tsc'], status: 1 });
    put('src/a.ts', 'mended');
    expect(ensure()).toMatchObject({ ran: ['tsc'], status: 0 });
  });
});

it('has a command before the first build, which says how to build it', () => {
  const command = join(clone, 'scripts/maitred.mjs');
  cpSync(join(ROOT, 'scripts/maitred.mjs'), command);
  const run = () => spawnSync(command, ['why'], { encoding: 'utf8' });
  const says = (text: string) =>
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining(text) as string });
  says('npm run build');
  put('dist/.builder', String(process.pid));
  says('being built');
  put('dist/.builder', '999999999');
  says('npm run build');
  put('package.json', '{"type": "module"}');
  put('dist/cli/main.js', 'console.log(process.argv.slice(2))');
  expect(run()).toMatchObject({ status: 0, stdout: "[ 'why' ]\n" });
});

it('starts the gateway, and says before anything else that its port is taken, and which is free', async () => {
  put('package.json', '{"type": "module"}');
  put('cli/main.ts', 'console.log(process.argv.slice(2).join(" "))');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The last of all ports, once no other run of this test has it.
  const last = createServer();
  do last.listen(65_535, '127.0.0.1');
  while (
    await once(last, 'listening').then(
      () => false,
      () => sleep(20, true),
    )
  );
  expect(script('start', ['--port', '65535']).output).toMatch(/npm start -- --port \d{4,5}\n$/);
  last.close();
  const port = String((server.address() as AddressInfo).port);
  const start = (args: string[], env = {}) => script('start', args, env);
  for (const refused of [
    start(['--port', port]),
    start([`-p${port}`]),
    start([`--port=${port}`], { MAITRED_LISTEN_PORT: '0' }),
    start([], { MAITRED_LISTEN_PORT: port }),
  ]) {
    expect(refused).toMatchObject({ ran: [], status: 1 });
    expect(refused.output).toMatch(new RegExp(`port ${port} .*npm start -- --port \\d+\n`));
    expect(refused.output).not.toContain(`--port ${port}\n`);
  }
  // What a file sets, and what is no port, the gateway tells.
  expect(start(['--config', 'own.yaml', '--port', 'x'])).toMatchObject({ ran: ['npm ci', 'tsc'], status: 0 });
  expect(start(['--help', '--port', port]).output).toBe(`serve --embedded 2 --log-level warn --help --port ${port}\n`);
  // No stand-ins beside engines of one's own.
  for (const own of [['-e', 'http://a:1'], ['--config=own.yaml'], ['--embedded', '4']])
    expect(start([...own, '--help']).output).toBe(`serve ${own.join(' ')} --help\n`);
  server.close();
});
