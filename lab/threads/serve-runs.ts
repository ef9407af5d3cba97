import { parentPort, workerData } from 'node:worker_threads';
import type { RunHooks } from '../measure/run.js';
import { Signals, type WorkerData, type WorkerMessage } from './pool.js';

/** The thread's side of a `Pool`: makes the runs whose indexes it receives. */
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
