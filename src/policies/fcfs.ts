import type { Policy } from './policy.js';

/** First come, first served, with window and gate. */
export const fcfsWindow: Policy = {
  name: 'fcfs-window',
  admits: true,
  levels: 1,
  stand: () => ({ level: 0, rank: 0 }),
};

/** The honest baseline: nothing waits here while an engine is up, and the order is the engine's own. */
export const passThrough: Policy = { ...fcfsWindow, name: 'pass-through', admits: false };
