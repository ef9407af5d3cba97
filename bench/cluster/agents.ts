import { Command } from 'commander';
import { join } from 'node:path';
import { readRecordings } from '../report/recordings.js';
import type { ClusterOptions } from '../../sim/index.js';
import { say } from '../numbers.js';

export const RECORDING = 'mini-swe-agent';
const TRACES = join('..', 'shared', 'traces');

/** Recorded coding agents whose contexts do not fit the engines' caches. */
export const SCENARIO = {
  programs: { recording: RECORDING },
  ratePerSecond: 0.25,
  engines: 2,
  machine: 'llama-3.1-8b-a100',
} as const;
export const HOOKS = { shouldStop: () => false, onProgress: () => undefined };

/** Three gateways, a millisecond from the store and back. */
export const shared = (routing: ClusterOptions['routing']) => ({ gateways: 3, delayMs: 0.5, routing, shares: true });

/** Undefined, with the reason on stdout: there is no recording. */
export async function readAgents() {
  const recordings = await readRecordings(new Command('bench'), TRACES, new Set([RECORDING]));
  const recorded = recordings[RECORDING];
  if (recorded !== undefined) return { recordings, recorded };
  say(`There is no recording in ${TRACES}: skipped.`);
  return undefined;
}
