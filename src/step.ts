import type { Command } from './protocol/events.js';

/** The step in progress: its time, and its commands so far. */
export interface Step {
  nowMs: number;
  out: Command[];
}
