import type { Pool, Progress } from './pool.js';

const EVERY_MS = 200;

/**
 * What the pool has made when it is done, or when the signal has stopped it. A line on the terminal, if stderr is one,
 * tells meanwhile how far it is.
 * @param programs of all its runs together
 */
export function untilEnded<Task, Report extends Progress>(
  pool: Pool<Task, Report>,
  programs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Report>> {
  const hideProgress = showProgress(pool, programs);
  signal.addEventListener('abort', () => pool.stop());
  if (signal.aborted) pool.stop();
  return pool.ended.finally(hideProgress);
}

/** Call what it gives to take the line away. */
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
