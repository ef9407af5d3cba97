import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ShadowWindow, estimate } from '../lab/index.js';
import type { FromShadow, ShadowStart, ToShadow } from './shadow-messages.js';

/** Longest time for the simulations of an estimate. */
const TOOK_MS_MAX = 30_000;

/** The thread of the estimates: it remembers steps, and simulates when asked. */
const { limits, settings: initial, reportMs, nowMs: startMs } = workerData as ShadowStart;
// On Linux this is of the thread alone; elsewhere it would slow the gateway.
const isLinux = process.platform === 'linux';
if (isLinux) setPriority(19);

const window = new ShadowWindow(limits, startMs);
let settings = initial;

parentPort?.on('message', ({ nowMs, restart, steps, estimates }: ToShadow) => {
  if (restart !== undefined) {
    window.restart(nowMs);
    settings = restart.settings;
  }
  for (const step of steps) window.take(step);
  parentPort?.postMessage(estimates ? { made: make(nowMs) } : ({} satisfies FromShadow));
});

function make(nowMs: number): FromShadow['made'] {
  const begunMs = busyMs();
  const shouldStop = () => busyMs() - begunMs > TOOK_MS_MAX;
  const pools = estimate(window, { settings, reportMs, nowMs, shouldStop });
  return { windowMs: nowMs - window.sinceMs, tookMs: busyMs() - begunMs, pools };
}

/** CPU time of this thread; elsewhere than on Linux, time. A thread that gives way to all others may wait for long. */
function busyMs(): number {
  if (!isLinux) return performance.now();
  const [, fields = ''] = readFileSync('/proc/thread-self/stat', 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return 10 * (Number(user) + Number(system));
}
