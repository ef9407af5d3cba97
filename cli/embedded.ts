import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { EngineConfig } from '../sidecar/config/index.js';
import type { Ready } from './embedded-worker.js';

/** Tokens that the KV cache of each holds: few, so that a fleet on one's own machine shows what the gate does. */
export const KV_TOKENS = 40_000;

/**
 * Starts stand-in engines, each in a thread of its own: the model that an engine computes must not slow the gateway.
 * The gateway reaches them by URL, as any other engine. `onError` receives the error of an engine that stops later.
 */
export async function startEmbedded(count: number, onError: (id: string, error: Error) => void) {
  const worker = () => new Worker(new URL('./embedded-worker.js', import.meta.url), { workerData: KV_TOKENS });
  const workers = Array.from({ length: count }, worker);
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.terminate()));
  };
  try {
    const ready = await Promise.all(workers.map(async (worker) => ((await once(worker, 'message')) as [Ready])[0]));
    const configs = ready.map(({ url }, index): EngineConfig => ({ id: `embedded-${index + 1}`, url, kind: 'vllm' }));
    workers.forEach((worker, index) => worker.on('error', (error) => onError(`embedded-${index + 1}`, error)));
    return { configs, model: ready[0]?.model, close };
  } catch (error) {
    await close();
    throw error;
  }
}
