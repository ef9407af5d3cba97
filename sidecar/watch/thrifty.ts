/** Most of the process's time that readings may take in the long run. */
const BUSY_SHARE = 0.01;
/** Share that they may take at once, after a pause. */
const BURST_MS = 100;

/** A new reading, or the last one while readings have taken more than their share of the time. */
export function thrifty<T>(read: () => T): () => T {
  let last: { readonly value: T } | undefined;
  let budgetMs = BURST_MS;
  let askedAtMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    budgetMs = Math.min(BURST_MS, budgetMs + BUSY_SHARE * (nowMs - askedAtMs));
    askedAtMs = nowMs;
    if (last === undefined || budgetMs > 0) {
      last = { value: read() };
      budgetMs -= performance.now() - nowMs;
    }
    return last.value;
  };
}
