import type { Pool } from './pool.js';

const EVERY_MS = 200;

/** Keeps a line on the terminal, if stderr is one, that tells how far the pool is. Call what it gives to take it away. */
export function showProgress(pool: Pool, programs: number): () => void {
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
