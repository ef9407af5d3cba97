import { Worker } from 'node:worker_threads';
import { Signals } from './thread-signals.js';

/** What a thread is started with. */
export interface WorkerData<Task> {
  readonly task: Task;
  readonly signals: SharedArrayBuffer;
}

export interface WorkerMessage<Report> {
  readonly index: number;
  readonly report: Report;
}

/** What is known of any report. */
export interface Progress {
  readonly complete: boolean;
  readonly programs: number;
}

/**
 * All runs of a task, `jobs` at a time, each in a thread: a run is one long computation, and whoever waits for it wants
 * to be told how far it is, and to stop it.
 */
export class Pool<Task, Report extends Progress> {
  /** The runs that were made, by their indexes in ascending order, whatever their threads; those stopped early too, but not before anything. */
  readonly ended: Promise<ReadonlyMap<number, Report>>;
  readonly #signals: Signals;
  readonly #reports = new Map<number, Report>();
  #next = 0;

  /**
   * @param worker module that is told the indexes of runs, and answers each with a `WorkerMessage`
   * @param runs how many there are
   */
  constructor(
    private readonly worker: URL,
    private readonly task: Task,
    readonly runs: number,
    jobs: number,
  ) {
    this.#signals = Signals.forRuns(runs);
    const threads = Array.from({ length: Math.min(jobs, runs) }, () => this.#work());
    this.ended = Promise.all(threads).then(() => {
      const made = [...this.#reports].filter(([, { complete, programs }]) => complete || programs > 0);
      return new Map(made.sort(([a], [b]) => a - b));
    });
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
    const workerData: WorkerData<Task> = { task: this.task, signals: this.#signals.buffer };
    const worker = new Worker(this.worker, { workerData });
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        if (this.#next < this.runs && !this.#signals.isStopped) worker.postMessage(this.#next++);
        else resolve();
      };
      worker.on('message', ({ index, report }: WorkerMessage<Report>) => {
        this.#reports.set(index, report);
        next();
      });
      worker.on('error', reject);
      next();
    }).finally(() => worker.terminate());
  }
}
