import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ShadowAnswer } from '../../sidecar/admin/answers.js';
import { estimate, type ShadowSettings } from './estimate.js';
import type { Seen, SeenCall } from './seen-calls.js';

/** Asks for an estimate of the calls that came in the messages before. */
export interface Scene extends Omit<Seen, 'ended'> {
  readonly settings: ShadowSettings;
}

const CPU_MS_MAX = 30_000;
// On Linux this is of the thread alone; elsewhere it would slow the gateway.
const isLinux = process.platform === 'linux';
if (isLinux) setPriority(19);

let ended: SeenCall[] = [];

parentPort?.on('message', (message: readonly SeenCall[] | Scene) => {
  if ('settings' in message) parentPort?.postMessage(answer({ ...message, ended: ended.splice(0) }));
  else ended = ended.concat(message);
});

function answer({ settings, ...seen }: Scene & Seen): ShadowAnswer {
  const startMs = cpuMs();
  const pools = estimate(seen, settings, () => cpuMs() - startMs > CPU_MS_MAX);
  const [made_at, window_seconds] = [Date.now() / 1000, (seen.nowMs - seen.sinceMs) / 1000];
  return { made_at, window_seconds, took_seconds: (cpuMs() - startMs) / 1000, pools };
}

/** CPU time of this thread; elsewhere than on Linux, time. A thread that gives way to all others may wait for long. */
function cpuMs(): number {
  if (!isLinux) return performance.now();
  const [, fields = ''] = readFileSync('/proc/thread-self/stat', 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return 10 * (Number(user) + Number(system));
}
