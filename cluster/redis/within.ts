/**
 * The answer, if it comes in time. The limit counts the store's time and not ours: an answer that is there already when
 * a busy event loop gets to its timers is in time.
 */
export function within<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the store did not answer within ${limitMs} ms`));
    const timer = setTimeout(() => setImmediate(late), limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
