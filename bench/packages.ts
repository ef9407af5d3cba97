import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** This folder among the sources; the running code is compiled and lies under `dist`. */
const FOLDER = new URL('../../bench/', import.meta.url);

/** Packages of this folder's `package.json` lie in a `node_modules` that compiled files cannot import from by name. */
export const load: (name: string) => unknown = createRequire(new URL('package.json', FOLDER));

/** Installs the packages of the lock file, unless they are there. */
export function ensurePackages(): void {
  if (versions('package-lock.json') === versions('node_modules/.package-lock.json')) return;
  process.stderr.write('bench: installing packages (npm ci)\n');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: fileURLToPath(FOLDER), stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('could not install the packages of bench/ (see above)');
}

/** Names and versions of a lock file's packages as one text, '' where there is none. */
function versions(file: string): string {
  try {
    const { packages } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    const named = Object.entries(packages).filter(([path]) => path !== '');
    return named.map(([path, { version }]) => `${path} ${version}`).join('\n');
  } catch {
    return '';
  }
}
