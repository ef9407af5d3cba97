import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { say } from '../numbers.js';

/** Speed of the simulator, and whether its memory grows; in a process of its own, whose heap holds nothing else. */
export function benchSimulator(quick: boolean): void {
  const script = fileURLToPath(new URL('simulate.js', import.meta.url));
  const { status } = spawnSync(process.execPath, ['--expose-gc', script, String(quick ? 0.06 : 1)], {
    stdio: 'inherit',
  });
  if (status !== 0) say('the process that simulates failed');
}
