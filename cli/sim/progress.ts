import type { Pool, Progress } from './pool.js';

const EVERY_MS = 200;

/**
 * The pool's reports when it is done, or when the signal has stopped it. Meanwhile, if stderr is a terminal, a line
 * shows the progress.
 * @param programs number of programs of all its runs together
 */
export function untilEnded<Task, Report extends Progress>(
  pool: Pool<Task, Report>,
  programs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Report>> {
  const hideProgress = showProgress(pool, programs);
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
): () => void {
  if (!process.stderr.isTTY) return () => undefined;
  const draw = (text: string) => process.stderr.write(`\r\u001B[K${text}`);
  const timer = setInterval(() => {
    const share = Math.floor((100 * pool.programsDone) / programs);
    draw(`${pool.runsDone} of ${pool.runs} runs, ${pool.programsDone} of ${programs} programs (${share} %)`);
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    draw('');
  };
}
