import type { Pool, Progress } from './pool.js';

const EVERY_MS = 200;

/**
 * The pool's reports when it is done, or when the signal has stopped it. Meanwhile, if stderr is a terminal, a line
 * shows the progress.
 * @param programs number of programs of all its runs together
 * @param later number of programs of the pools that are to follow, for the time left
 */
export function untilEnded<Task, Report extends Progress>(
  pool: Pool<Task, Report>,
  programs: number,
  signal: AbortSignal,
  later = 0,
): Promise<ReadonlyMap<number, Report>> {
  const hideProgress = showProgress(pool, programs, later);
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
  later: number,
): () => void {
  if (!process.stderr.isTTY) return () => undefined;
  const draw = (text: string) => process.stderr.write(`\r\u001B[K${text}`);
  const beganMs = performance.now();
  const timer = setInterval(() => {
    const { programsDone } = pool;
    const share = programsDone / programs;
    const leftMs = ((performance.now() - beganMs) * (programs + later - programsDone)) / programsDone;
    const left = programsDone > 0 ? `, about ${leftText(leftMs)} left` : '';
    draw(`${pool.runsDone} of ${pool.runs} runs, ${programsDone} of ${programs} programs (${Math.floor(100 * share)} %)${left}`); // prettier-ignore
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    draw('');
  };
}

const leftText = (ms: number): string => (ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`);
