/**
 * Makes `dist/core`, the package `maitred-core`: the scheduler and its balancers (src/README.md) as they lie in `dist`,
 * without the gateway and its dependencies. `npm pack ./dist/core` or `npm publish ./dist/core` does the rest.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const core = join(root, 'dist/core');
const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

rmSync(core, { recursive: true, force: true });
for (const room of ['src', 'loadbalancer'])
  cpSync(join(root, 'dist', room), join(core, room), { recursive: true, filter: (path) => !path.endsWith('.map') });
cpSync(join(root, 'LICENSE'), join(core, 'LICENSE'));
const manifest = {
  name: 'maitred-core',
  version,
  description: 'The scheduler of maitred as a library: events go in, commands come out.',
  license,
  type: 'module',
  engines,
  exports: {
    '.': './src/index.js',
    './loadbalancer': './loadbalancer/index.js',
    './package.json': './package.json',
  },
};
writeFileSync(join(core, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
