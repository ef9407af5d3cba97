import { Worker } from 'node:worker_threads';
import { Signals } from './thread-signals.js';

/** The data with which a thread starts. */
export interface WorkerData<Task> {
  readonly task: Task;
  readonly signals: SharedArrayBuffer;
}

export interface WorkerMessage<Report> {
  readonly index: number;
  readonly report: Report;
}

/** Fields of every report. */
export interface Progress {
  readonly complete: boolean;
  readonly programs: number;
}

/**
 * All runs of a task, `jobs` at a time, each in a thread. A run is one long computation, and the user wants to see its
 * progress and to stop it.
 */
export class Pool<Task, Report extends Progress> {
  /**
   * Reports of the runs by ascending index, whatever their threads. Runs stopped early are included unless no program
   * had ended.
   */
  readonly ended: Promise<ReadonlyMap<number, Report>>;
  readonly #signals: Signals;
  readonly #reports = new Map<number, Report>();
  #next = 0;

  /**
   * @param worker module that receives indexes of runs, and answers each with a `WorkerMessage`
   * @param runs number of runs
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

  /** Runs under way end as soon as they can; others do not start. */
  stop(): void {
    this.#signals.stop();
  }

  /** A thread that makes one run after another. Rejects with a run's error. */
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
