import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { say } from '../numbers.js';

/** Memory of the process table, in a process of its own, whose heap holds nothing else. */
export function benchProgramBytes(quick: boolean): void {
  const script = fileURLToPath(new URL('fill-table.js', import.meta.url));
  const args = ['--expose-gc', '--max-old-space-size=8192', script, String(quick ? 30_000 : 1_000_000)];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) say('the process that fills the table failed');
}
