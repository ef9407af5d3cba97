import { Worker } from 'node:worker_threads';
import { combinationsOf, type Plan } from './plan.js';
import type { RunReport } from './run.js';
import { Signals } from './thread-signals.js';
import type { WorkerData, WorkerMessage } from './worker.js';

/**
 * All runs of a plan, `jobs` at a time, each in a thread: a run is one long computation, and whoever waits for it wants
 * to be told how far it is, and to stop it.
 */
export class Pool {
  readonly runs: number;
  /** The runs that were made, in the order of the plan's combinations whatever their threads; those stopped early too, but not before anything. */
  readonly ended: Promise<readonly RunReport[]>;
  readonly #signals: Signals;
  readonly #reports = new Map<number, RunReport>();
  #next = 0;

  constructor(
    private readonly plan: Plan,
    jobs: number,
  ) {
    this.runs = combinationsOf(plan).length;
    this.#signals = Signals.forRuns(this.runs);
    const threads = Array.from({ length: Math.min(jobs, this.runs) }, () => this.#work());
    this.ended = Promise.all(threads).then(() =>
      [...this.#reports]
        .sort(([a], [b]) => a - b)
        .map(([, report]) => report)
        .filter(({ complete, programs }) => complete || programs > 0),
    );
  }

  get runsDone(): number {
    return this.#reports.size;
  }

  get programsDone(): number {
    return this.#signals.programs;
  }

  /** Runs under way end as soon as they can, others do not begin. */
  stop(): void {
    this.#signals.stop();
  }

  /** A thread that takes one run after another. Rejects with what a run throws. */
  #work(): Promise<void> {
    const workerData: WorkerData = { plan: this.plan, signals: this.#signals.buffer };
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData });
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        if (this.#next < this.runs && !this.#signals.isStopped) worker.postMessage(this.#next++);
        else resolve();
      };
      worker.on('message', ({ index, report }: WorkerMessage) => {
        this.#reports.set(index, report);
        next();
      });
      worker.on('error', reject);
      next();
    }).finally(() => worker.terminate());
  }
}
