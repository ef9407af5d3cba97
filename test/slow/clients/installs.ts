import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/tree.js';

/**
 * The clients' packages, which are not our dependencies. Each set is installed once into a cache folder, from the
 * pinned versions of its manifest, and again if the manifest changes. An environment variable may name a folder with
 * existing packages; nothing is checked or changed there.
 */
const HERE = 'test/slow/clients';
const SETS = {
  node: { source: 'examples/node', manifest: ['package.json', 'package-lock.json'], install: npm },
  python: { source: 'examples/python', manifest: ['requirements.txt'], install: pip },
  harness: { source: `${HERE}/harness`, manifest: ['package.json'], install: harness },
  ...ofPip(HERE, 'mini', 'agents', 'aider', 'helpers'),
  // `atomic` needs Python 3.12.
  ...ofPip(`${HERE}/teams`, 'openai', 'langchain', 'microsoft', 'llama', 'others', 'atomic', 'adk', 'crewai'),
};

function ofPip<N extends string>(folder: string, ...names: readonly N[]) {
  const sets = names.map((name) => [
    name,
    { source: `${folder}/${name}`, manifest: ['requirements.txt'], install: pip },
  ]);
  return Object.fromEntries(sets) as Record<N, { source: string; manifest: string[]; install: typeof pip }>;
}

export type SetName = keyof typeof SETS;

/**
 * Folder of an installed set: beside `node_modules` for npm, a virtual environment for Python. Or the reason of a
 * failed install.
 */
export type Install = { readonly folder: string } | { readonly missing: string };

export const SET_NAMES = Object.keys(SETS) as SetName[];

const CACHE = join(ROOT, 'node_modules/.cache/maitred-clients');
/** File with the hash of the manifest that was installed; written last. */
const STAMP = '.installed';
const INSTALL_MS_MAX = 900_000;

/** Never throws; the tests that need a missing set report it. */
export function provideSet(name: SetName): Install {
  const { source, manifest, install } = SETS[name];
  const variable = `TEST_CLIENTS_${name.toUpperCase()}`;
  const given = process.env[variable];
  if (given !== undefined && given !== '') {
    return existsSync(given) ? { folder: given } : { missing: `${variable} names no folder: ${given}` };
  }
  const folder = join(CACHE, name);
  const hash = createHash('sha256');
  for (const file of manifest) hash.update(readFileSync(join(ROOT, source, file)));
  const wanted = hash.digest('hex');
  const stamp = join(folder, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { folder };
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of manifest) cpSync(join(ROOT, source, file), join(folder, file));
    install(folder);
    writeFileSync(stamp, wanted);
    return { folder };
  } catch (error) {
    return { missing: `the ${name} clients could not be installed: ${String(error)}` };
  }
}

const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

function npm(folder: string): void {
  run(folder, 'npm', ['ci', ...QUIET]);
}

/**
 * No lock file: the harnesses are binaries of pinned versions, one package per platform, and no registry is sure to
 * have all of them. A script of OpenCode's package puts its binary in place.
 */
function harness(folder: string): void {
  run(folder, 'npm', ['install', '--no-package-lock', ...QUIET]);
  run(folder, process.execPath, ['node_modules/opencode-ai/postinstall.mjs']);
}

function pip(folder: string): void {
  run(folder, 'python3', ['-m', 'venv', '.']);
  run(folder, join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt']);
}

/** @throws Error with the command's error output */
function run(folder: string, command: string, args: readonly string[]): void {
  process.stderr.write(`clients: ${command} ${args.join(' ')}\n`);
  const result = spawnSync(command, args, { cwd: folder, encoding: 'utf8', timeout: INSTALL_MS_MAX });
  if (result.error !== undefined) throw result.error;
  if (result.status === 0) return;
  const reason = result.stderr.trim().replace(/\s+/g, ' ').slice(0, 300);
  throw new Error(`${command} exited with ${String(result.status)}: ${reason}`);
}
