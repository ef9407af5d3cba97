import { untilStopped } from '../signals.js';
import type { Pool, Progress } from './pool.js';

const EVERY_MS = 200;

/**
 * What the pool has made when it is done or a first signal has stopped it. A line on the terminal, if stderr is one, tells
 * meanwhile how far it is.
 * @param programs of all its runs together
 */
export async function untilEnded<Task, Report extends Progress>(
  pool: Pool<Task, Report>,
  programs: number,
): Promise<ReadonlyMap<number, Report>> {
  const hideProgress = showProgress(pool, programs);
  const stop = async () => {
    pool.stop();
    await pool.ended;
  };
  await Promise.race([pool.ended, untilStopped({ stop })]).finally(hideProgress);
  return pool.ended;
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
