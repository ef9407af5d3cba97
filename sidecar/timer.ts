import type { SetTimer } from './engines/index.js';

/** Node's own timers. */
export const setTimer: SetTimer = (fn, ms) => {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
};
