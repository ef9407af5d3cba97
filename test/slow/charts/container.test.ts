import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Maitred } from '../../support/maitred.js';
import { ROOT, readText } from '../../support/tree.js';

/**
 * The Dockerfile without a container: its commands run in a folder with what the build would get, by .dockerignore, on
 * this machine's Node. Then the binary runs with what its last stage copies.
 */
const lines = readText('Dockerfile').replaceAll('\\\n', ' ').split('\n');
const after = (keyword: string) =>
  lines.flatMap((line) => (line.trim().startsWith(`${keyword} `) ? [line.trim().slice(keyword.length + 1)] : []));

describe('the Dockerfile', () => {
  let build: string;
  let image: string;

  beforeAll(() => {
    [build, image] = ['build', 'image'].map((name) => mkdtempSync(join(tmpdir(), `maitred-${name}-`))) as [
      string,
      string,
    ];
    const context = readText('.dockerignore')
      .match(/^!.+$/gm)!
      .map((line) => line.slice(1));
    for (const path of context) cpSync(join(ROOT, path), join(build, path), { recursive: true });
    for (const command of after('RUN')) {
      const { status, stderr } = spawnSync('sh', ['-ec', command.replace(/^(--\S+ )*/, '').replaceAll('/app/', '')], {
        cwd: build,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`${command}: ${stderr}`);
    }
    const copied = after('COPY').flatMap((line) => line.match(/(?<=\/app\/)[\w.]+(?= )/g) ?? []);
    for (const name of copied)
      cpSync(join(build, name), join(image, name), { recursive: true, verbatimSymlinks: true });
  });

  afterAll(() => {
    for (const folder of [build, image]) rmSync(folder, { recursive: true, force: true });
  });

  const health = (port: string) => {
    const [, check] = /^HEALTHCHECK .* CMD (.*)$/.exec(lines.find((line) => line.startsWith('HEALTHCHECK'))!)!;
    const [command, ...args] = JSON.parse(check!) as [string, ...string[]];
    return spawnSync(command, args, { env: { ...process.env, MAITRED_LISTEN_PORT: port } }).status;
  };

  it('makes an image that serves, is healthy, and drains at its stop signal', async () => {
    const binary = join(image, 'dist/cli/main.js');
    const maitred = new Maitred(['serve', '--embedded', '1', '--port', '0'], { NODE_ENV: 'production' }, binary);
    const { port } = new URL(await maitred.url());
    expect(health(port)).toBe(0);
    maitred.kill(after('STOPSIGNAL')[0] as NodeJS.Signals);
    expect(await maitred.ended).toBe(0);
    expect(health(port)).toBe(1);
  });

  it('leaves out packages of development, and files that only they read', () => {
    const find = (...args: string[]) => spawnSync('find', [image, ...args], { encoding: 'utf8' }).stdout;
    expect(find('-path', '*/node_modules/typescript')).toBe('');
    expect(find('-name', '*.map')).toBe('');
    expect(find('-path', '*/node_modules/find-my-way')).not.toBe('');
  });
});
