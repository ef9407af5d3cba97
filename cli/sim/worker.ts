import { parentPort, workerData } from 'node:worker_threads';
import { combinationsOf, type Plan } from './plan.js';
import { runOne, type RunReport } from './run.js';
import { Signals } from './thread-signals.js';

export interface WorkerData {
  readonly plan: Plan;
  readonly signals: SharedArrayBuffer;
}

export interface WorkerMessage {
  readonly index: number;
  readonly report: RunReport;
}

/** A thread of the simulator: makes the runs that it is told, by their places among the plan's combinations. */
const { plan, signals } = workerData as WorkerData;
const shared = new Signals(signals);
const combinations = combinationsOf(plan);
parentPort?.on('message', (index: number) => {
  const combination = combinations[index];
  if (combination === undefined) throw new RangeError(`there is no run ${index}`);
  const report = runOne(plan, combination, {
    shouldStop: () => shared.isStopped,
    onProgress: (programs) => shared.tell(index, programs),
  });
  parentPort?.postMessage({ index, report } satisfies WorkerMessage);
});
