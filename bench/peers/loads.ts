import { existsSync } from 'node:fs';
import { RECORDINGS } from '../../lab/index.js';

export interface Load {
  readonly title: string;
  /** Speed-up over real time: the highest that two idle cores allow. */
  readonly speed: number;
  /** Options of `maitred load` for the programs and their arrivals. */
  readonly args: readonly string[];
}

const TRACE = `../shared/traces/${RECORDINGS['mini-swe-agent'].file}`;
const isRecorded = existsSync(TRACE);

const synthetic = (workload: string, rate: number, programs: number): string[] => [
  '--workload',
  workload,
  '--rate',
  `${rate}`,
  '--programs',
  `${programs}`,
];
const atOnce = (count: number): string[] => ['--programs', `${count}`, '--concurrency', `${count}`];

export const LOADS = {
  agents: {
    title: isRecorded ? '30 recorded agents at once' : '30 synthetic agents at once (no recording found)',
    speed: 20,
    args: [...(isRecorded ? ['--trace', TRACE] : ['--workload', 'coding']), ...atOnce(30)],
  },
  fleet: { title: 'fleet, 2 programs/s, 160 programs', speed: 20, args: synthetic('fleet', 2, 160) },
  // Many more calls a second than the other loads. Of 600 programs at 3.2/s no target ended all in ten minutes.
  mixed: { title: 'mixed, 2.4 programs/s, 120 programs', speed: 6, args: synthetic('mixed', 2.4, 120) },
  /** For a small real engine, such as the tests' vLLM. */
  small: {
    title: '24 small agents at once',
    speed: 20,
    args: ['--workload', 'examples/workloads/small-agents.yaml', ...atOnce(24)],
  },
} satisfies Record<string, Load>;
export type LoadName = keyof typeof LOADS;
export const LOAD_NAMES = Object.keys(LOADS) as LoadName[];
