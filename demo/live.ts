import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Agent } from 'undici';
import { readCounters } from '../processes/engines.js';
import { readModel, readView, startGateway } from '../processes/gateway.js';
import type { PolicyName } from '../src/index.js';
import type { DemoOptions } from './options.js';
import { replay } from './replay.js';
import type { Run } from './report.js';
import type { Say, Stage } from './stage.js';
import type { Workload } from './workload.js';

const PROGRESS_MS = 15_000;

/** One policy, on engines and a gateway of its own, or on given engines with its own part of their caches. */
export async function play(
  policy: PolicyName,
  seed: number,
  { programs, demand }: Workload,
  stage: Stage,
  { balancer, config: file, gapMax, timeLimit }: DemoOptions,
  say: Say,
): Promise<Run> {
  const { speed, gapScale } = stage;
  const engines = await stage.engines(demand);
  try {
    const gateway = await startGateway({ policy, balancer, file, engines: engines.urls, speed });
    const signal = AbortSignal.timeout(timeLimit * 1000);
    // Each program adds a listener.
    setMaxListeners(0, signal);
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    let answered = 0;
    const tell = () => say(`${policy}: ${answered} of ${demand.calls} calls answered`);
    const timer = setInterval(tell, PROGRESS_MS);
    try {
      const { id: model } = await readModel(gateway.url);
      const before = await readCounters(engines.urls);
      const outcomes = await replay(programs, {
        url: gateway.url,
        model,
        dispatcher,
        speed,
        gapScale,
        gapMsMax: gapMax * 1000,
        cacheSalt: randomUUID(),
        signal,
        onAnswer: () => (answered += 1),
      });
      tell();
      const after = await readCounters(engines.urls);
      const prefix = { queries: after.queries - before.queries, hits: after.hits - before.hits };
      for (const { id, failure } of outcomes) if (failure !== undefined) say(`${policy}: ${id}: ${failure}`);
      return { policy, seed, speed, outcomes, prefix, view: await readView(gateway.url) };
    } finally {
      clearInterval(timer);
      await dispatcher.destroy();
      await gateway.stop();
    }
  } finally {
    await engines.stop();
  }
}
