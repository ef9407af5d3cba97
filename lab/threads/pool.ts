import { Worker, parentPort, workerData } from 'node:worker_threads';
import type { RunHooks } from '../measure/run.js';

/** A line on a terminal is drawn again so often; elsewhere another line tells that the command lives. */
const [DRAW_MS, TELL_MS] = [200, 60_000];
/** When a command, known by its signal, last told: its pools may be many, and short. */
const told = new WeakMap<AbortSignal, number>();

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
  /** Shared with the threads, as one in the middle of a run receives no messages: [stop, programs ended in run 0, ...]. */
  readonly #signals: Int32Array;
  readonly #reports = new Map<number, Report>();
  #next = 0;

  /**
   * @param worker module that calls `serveRuns`
   * @param runs number of runs
   */
  constructor(
    private readonly worker: URL,
    private readonly task: Task,
    readonly runs: number,
    jobs: number,
  ) {
    this.#signals = new Int32Array(new SharedArrayBuffer((1 + runs) * Int32Array.BYTES_PER_ELEMENT));
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
    return this.#signals.reduce((sum, count, at) => (at === 0 ? 0 : sum + count), 0);
  }

  /** Runs under way end as soon as they can; others do not start. */
  stop(): void {
    Atomics.store(this.#signals, 0, 1);
  }

  /** A thread that makes one run after another. Rejects with a run's error. */
  #work(): Promise<void> {
    const worker = new Worker(this.worker, { workerData: { task: this.task, signals: this.#signals } });
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        if (this.#next < this.runs && this.#signals[0] === 0) worker.postMessage(this.#next++);
        else resolve();
      };
      worker.on('message', ({ index, report }: { index: number; report: Report }) => {
        this.#reports.set(index, report);
        next();
      });
      worker.on('error', reject);
      next();
    }).finally(() => worker.terminate());
  }
}

/**
 * The pool's reports when it is done, or when the signal has stopped it. Meanwhile a line on stderr shows the progress:
 * all the time on a terminal, each minute elsewhere.
 * @param programs number of programs of all its runs together
 * @param label before the progress
 */
export function untilEnded<Task, Report extends Progress>(
  pool: Pool<Task, Report>,
  programs: number,
  signal: AbortSignal,
  label = '',
): Promise<ReadonlyMap<number, Report>> {
  const hideProgress = showProgress(pool, programs, signal, label);
  const stop = () => pool.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  return pool.ended.finally(() => {
    signal.removeEventListener('abort', stop);
    hideProgress();
  });
}

/** Shows the progress. Returns a function that removes the line. */
function showProgress(
  pool: { readonly runs: number; readonly runsDone: number; readonly programsDone: number },
  programs: number,
  signal: AbortSignal,
  label: string,
): () => void {
  const isDrawn = process.stderr.isTTY;
  const draw = (text: string) => process.stderr.write(isDrawn ? `\r\u001B[K${text}` : `${text}\n`);
  const beganMs = performance.now();
  if (!told.has(signal)) told.set(signal, beganMs);
  const timer = setInterval(() => {
    if (!isDrawn && performance.now() - (told.get(signal) ?? 0) < TELL_MS) return;
    told.set(signal, performance.now());
    const { programsDone } = pool;
    const leftMs = ((performance.now() - beganMs) * (programs - programsDone)) / programsDone;
    const left = programsDone > 0 ? `, about ${leftText(leftMs)} left` : '';
    draw(
      `${label}${pool.runsDone} of ${pool.runs} runs, ${programsDone} of ${programs} programs (${Math.floor((100 * programsDone) / programs)} %)${left}`,
    );
  }, DRAW_MS);
  return () => {
    clearInterval(timer);
    if (isDrawn) draw('');
  };
}

const leftText = (ms: number): string => (ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`);

/** The thread's side of a `Pool`: makes the runs whose indexes it receives. */
export function serveRuns(prepare: (task: unknown) => (index: number, hooks: RunHooks) => unknown): void {
  const { task, signals } = workerData as { readonly task: unknown; readonly signals: Int32Array };
  const run = prepare(task);
  parentPort?.on('message', (index: number) => {
    const report = run(index, {
      shouldStop: () => Atomics.load(signals, 0) !== 0,
      onProgress: (programs) => Atomics.store(signals, 1 + index, programs),
    });
    parentPort?.postMessage({ index, report });
  });
}
