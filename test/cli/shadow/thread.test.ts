import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, it, vi } from 'vitest';
import { ShadowThread } from '../../../cli/shadow/thread.js';
import { engineId } from '../../../src/index.js';
import { live, twoKinds } from './live.js';

const doubt = { made_at: 0, took_seconds: 0, pools: [{ doubt: 'unfinished' }] };
it('drops a doubt as soon as an engine goes, also one that is on its way', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const worker = Object.assign(new EventEmitter(), {
    postMessage: () => undefined,
    terminate: () => Promise.resolve(0),
  });
  const config = { limits: { programsMax: 9 }, shadow: { everyMs: 1000 } };
  const shadow = new ShadowThread(config as never, {} as never, [], () => worker as unknown as Worker);
  const lost = { type: 'engineLost', engine: engineId('e0') } as const;
  for (const isLostFirst of [false, true]) {
    for (const { event, now, commands } of live(twoKinds(1, 1), 'plas').steps) shadow.step(event, now, commands);
    vi.advanceTimersByTime(30_000);
    await turn();
    if (isLostFirst) shadow.step(lost, performance.now() as never, []);
    worker.emit('message', doubt);
    expect(shadow.latest()).toBe(isLostFirst ? undefined : doubt);
    if (!isLostFirst) shadow.step(lost, performance.now() as never, []);
    expect(shadow.latest()).toBeUndefined();
  }
  await shadow.close();
  vi.useRealTimers();
});
