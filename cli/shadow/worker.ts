import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { estimate } from './estimate.js';
import type { FromShadow, ToShadow } from './messages.js';
import { ShadowWindow } from './window.js';

/** The thread of the estimates: it remembers calls, and simulates when asked. */
const CPU_MS_MAX = 30_000;
// On Linux this is of the thread alone; elsewhere it would slow the gateway.
const isLinux = process.platform === 'linux';
if (isLinux) setPriority(19);

const window = new ShadowWindow();

parentPort?.on('message', ({ ended, sinceMs, nowMs, scene }: ToShadow) => {
  window.take(ended, sinceMs, nowMs);
  parentPort?.postMessage(scene === undefined ? undefined : answer(scene, nowMs));
});

function answer({ settings, ...seen }: NonNullable<ToShadow['scene']>, nowMs: number): FromShadow {
  const startMs = cpuMs();
  const { calls: ended, sinceMs } = window;
  const pools = estimate({ ...seen, ended, sinceMs, nowMs }, settings, () => cpuMs() - startMs > CPU_MS_MAX);
  const made_at = Date.now() / 1000;
  return { made_at, window_seconds: (nowMs - sinceMs) / 1000, took_seconds: (cpuMs() - startMs) / 1000, pools };
}

/** CPU time of this thread; elsewhere than on Linux, time. A thread that gives way to all others may wait for long. */
function cpuMs(): number {
  if (!isLinux) return performance.now();
  const [, fields = ''] = readFileSync('/proc/thread-self/stat', 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return 10 * (Number(user) + Number(system));
}
