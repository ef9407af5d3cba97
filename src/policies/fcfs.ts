import type { Policy } from './policy.js';

/** First come, first served among the calls that wait here, with window and gate. */
export const fcfsWindow: Policy = {
  name: 'fcfs-window',
  admits: true,
  levels: 1,
  stand: () => ({ level: 0, rank: 0 }),
};

/** A true pass-through: nothing waits here while an engine is up, order is the engine's own. The honest baseline. */
export const fcfs: Policy = { ...fcfsWindow, name: 'fcfs', admits: false };
