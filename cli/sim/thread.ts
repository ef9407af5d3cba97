import { parentPort, workerData } from 'node:worker_threads';
import type { RunHooks } from '../../lab/index.js';
import type { WorkerData, WorkerMessage } from './pool.js';
import { Signals } from './thread-signals.js';

/** The other end of a `Pool`, in its thread: makes the runs that it is told, by their indexes. */
export function serveRuns(prepare: (task: unknown) => (index: number, hooks: RunHooks) => unknown): void {
  const { task, signals } = workerData as WorkerData<unknown>;
  const shared = new Signals(signals);
  const run = prepare(task);
  parentPort?.on('message', (index: number) => {
    const report = run(index, {
      shouldStop: () => shared.isStopped,
      onProgress: (programs) => shared.tell(index, programs),
    });
    parentPort?.postMessage({ index, report } satisfies WorkerMessage<unknown>);
  });
}
