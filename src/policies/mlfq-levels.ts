/** Number of queues, K, and the ratio of each queue's upper bound to the one before it. */
export const LEVELS = 14;
const QUANTUM_RATIO = 2;

/** The queue, 0 first, of K ranges [lo, hi) of service: lo_1 = 0, hi_i = firstQuantumMs x 2^(i-1), hi_K = Infinity. */
export function levelOf(serviceMs: number, firstQuantumMs: number): number {
  let level = 0;
  // No `**`: its last digit varies with the version of Node; a recording must replay on any.
  for (let upperMs = firstQuantumMs; serviceMs >= upperMs && level < LEVELS - 1; upperMs *= QUANTUM_RATIO) level += 1;
  return level;
}
