import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const STDERR_KEPT = 2000;

/** A `maitred` command that serves. */
export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

const binary = join(dirname(createRequire(import.meta.url).resolve('maitred/package.json')), 'dist/cli/main.js');

/**
 * Starts the installed binary in a process of its own, and waits until it listens.
 * @throws Error with what it wrote to stderr, when it ends before that.
 */
export async function serve(args: readonly string[]): Promise<Server> {
  // Settings of the user's own gateway are not for this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MAITRED_')));
  const child = spawn(process.execPath, [binary, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close').finally(() => process.off('exit', kill));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-STDERR_KEPT)));
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (!line.includes('"msg":"listening"')) return;
      resolve((JSON.parse(line) as { readonly url: string }).url);
      // From here on its log is of no interest, but must be read.
      lines.removeAllListeners('line');
      child.stdout.resume();
    });
    ended.then(() => reject(new Error(`maitred ${args.join(' ')} ended: ${stderr.trim()}`)), reject);
  });
  const stop = async () => {
    kill();
    await ended;
  };
  return { url, stop };
}
