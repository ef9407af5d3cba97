import { vi } from 'vitest';
import { main } from '../../cli/program.js';

/** Runs a command line in this process, one at a time: its exit code and what it wrote. */
export async function run(args: readonly string[], env: Record<string, string> = {}, command = main) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let out = '';
  let err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    const code = await command(['node', 'maitred', ...args]);
    return { code, out, errors: err.split('\n').filter((line) => line !== '') };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}
