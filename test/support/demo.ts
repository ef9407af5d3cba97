import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from './tree.js';

/** As `npm run demo` starts it. */
export async function demo(...args: string[]) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/demo/main.js'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], MAITRED_POLICY_NAME: 'nobody' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}
