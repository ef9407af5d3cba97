/**
 * Makes a clone ready to run: installs the packages of the lock file, and builds `dist` from the sources. Silent and
 * offline when both are up to date. It compares contents, never times, which a `git pull`, a copied folder or a
 * container layer may have changed.
 *
 * Packages: npm writes a list of installed packages into node_modules at the end; it must equal the lock file.
 * Development packages may be missing (`npm ci --omit=dev`) as long as there is nothing to build. Build:
 * `dist/.sources` holds the hash of the sources that `dist` was built from, written last; `dist/.page` that of the page.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MIN = [20, 19];
const { references } = JSON.parse(readFileSync(new URL('../cli/tsconfig.json', import.meta.url), 'utf8'));
/** The rooms that the binary is built of. */
const ROOMS = ['cli', ...references.map(({ path }) => basename(path))];
const BINARY = 'dist/cli/main.js';
/** The process that builds, while it does: scripts/maitred.mjs tells it. */
const BUILDER = 'dist/.builder';
const STAMP = 'dist/.sources';
/** The page of `/ui`: its sources, what is made of them, and its stamp. */
const PAGE = 'ui';
const PAGE_OUTPUT = 'dist/ui/index.html';
const PAGE_STAMP = 'dist/.page';

const say = (text) => process.stderr.write(`maitred: ${text}\n`);

function fail(text) {
  rmSync(BUILDER, { force: true });
  say(text);
  process.exit(1);
}

const ALIVE_MS = 15_000;

/** Runs a step, and gives signs of life as long as it takes: a loaded machine needs minutes for half a minute's work. */
async function run(what, command, args, options = {}) {
  say(what);
  const since = Date.now();
  const alive = setInterval(() => say(`still ${what}, ${Math.round((Date.now() - since) / 1000)} s`), ALIVE_MS);
  const child = spawn(command, args, { stdio: ['ignore', process.stderr, process.stderr], ...options });
  const status = await once(child, 'close').then(
    ([code]) => code,
    () => 1,
  );
  clearInterval(alive);
  return status === 0;
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const enough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (!enough) fail(`needs Node ${NODE_MIN.join('.')} or newer, this is ${process.versions.node}`);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Whether node_modules has the packages of the lock file, development packages only if they are needed. */
function isInstalled(needsDevelopment) {
  const wanted = readPackages('package-lock.json');
  const present = readPackages('node_modules/.package-lock.json');
  if (wanted === undefined) fail('cannot read package-lock.json');
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = present[path];
    const omitted = entry.optional || entry.devOptional || (entry.dev && !needsDevelopment);
    if (found === undefined ? !omitted : found.version !== entry.version || found.integrity !== entry.integrity)
      return false;
  }
  return Object.keys(present).every((path) => path in wanted || present[path].extraneous);
}

async function install() {
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // Under npm this is the npm that runs us; it need not be in the PATH.
  const script = process.env.npm_execpath;
  const viaNode = script !== undefined && basename(script).startsWith('npm');
  const [command, prefix] = viaNode ? [process.execPath, [script]] : ['npm', []];
  const options = { shell: !viaNode && process.platform === 'win32' };
  const ok = await run('installing packages (npm ci)', command, [...prefix, ...args], options);
  if (!ok) fail('could not install the packages (see above)');
}

function* filesUnder(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) yield join(entry.parentPath, entry.name);
  }
}

const listPage = () => [...filesUnder(PAGE)].sort();
const listSources = () => ROOMS.flatMap((room) => [...filesUnder(room)].filter((file) => file.endsWith('.ts'))).sort();
const outputOf = (source) => join('dist', source.replace(/\.ts$/, '.js'));

/** The lock file counts as a source: another compiler or other types may find other faults. */
const SETTINGS = ['tsconfig.base.json', 'package-lock.json', ...ROOMS.map((room) => join(room, 'tsconfig.json'))];

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** The compiler never deletes its old outputs; a stale file could still be imported. */
function pruneOutputs(sources) {
  const known = new Set(sources.map((source) => outputOf(source).replace(/\.js$/, '')));
  for (const file of ROOMS.flatMap((room) => [...filesUnder(join('dist', room))])) {
    if (!known.has(file.replace(/(\.js|\.d\.ts)(\.map)?$/, ''))) rmSync(file);
  }
}

const hasStamp = (stamp, hash) => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
const isBuilt = (sources, hash) => hasStamp(STAMP, hash) && sources.every((source) => existsSync(outputOf(source)));
const isPageBuilt = (page, hash) => page.length === 0 || (hasStamp(PAGE_STAMP, hash) && existsSync(PAGE_OUTPUT));

/** Whether it succeeded, as of the page below. */
async function build(sources, hash) {
  rmSync(STAMP, { force: true });
  pruneOutputs(sources);
  // The compiler trusts its own record of outputs, so it must be forced when some are gone.
  const force = sources.every((source) => existsSync(outputOf(source))) ? [] : ['--force'];
  const args = ['node_modules/typescript/bin/tsc', '-b', 'cli', ...force];
  if (!(await run('building (tsc -b)', process.execPath, args))) return false;
  // npm makes a package's binary executable once, and the compiler writes new files without that bit.
  if (existsSync(BINARY)) chmodSync(BINARY, 0o755);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, hash);
  return true;
}

/** Its types are checked by `npm test`, not here, because this is on the way to the first `npm start`. */
async function buildPage(hash) {
  rmSync(PAGE_STAMP, { force: true });
  const args = ['node_modules/vite/bin/vite.js', 'build', '--config', join(PAGE, 'vite.config.ts')];
  if (!(await run('building the page (vite)', process.execPath, args))) return false;
  writeFileSync(PAGE_STAMP, hash);
  return true;
}

checkNode();
process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const sources = listSources();
const page = listPage();
const [hash, pageHash] = [hashOf([...SETTINGS, ...sources]), hashOf(['package-lock.json', ...page])];
const [built, pageBuilt] = [isBuilt(sources, hash), isPageBuilt(page, pageHash)];
const installed = isInstalled(!built || !pageBuilt);
if (!installed || !built || !pageBuilt) {
  mkdirSync(dirname(BUILDER), { recursive: true });
  writeFileSync(BUILDER, String(process.pid));
}
if (!installed) await install();
// The page is built of its own files, of the others it takes types alone: both builds run at once.
const builds = await Promise.all([built || build(sources, hash), pageBuilt || buildPage(pageHash)]);
if (builds.includes(false)) fail('the build failed (see above)');
rmSync(BUILDER, { force: true });
