import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const LOAD_NAMES = ['agents', 'fleet', 'team', 'mixed', 'small'] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

/** The load of one run. */
export interface Load {
  readonly title: string;
  /** Speed-up over real time. */
  readonly speed: number;
  /** Options of `maitred load` for the programs and their arrivals. */
  readonly args: readonly string[];
}

/** For a small real engine, such as the tests' vLLM. */
const SMALL = 'examples/workloads/small-agents.yaml';
const TRACES = '../shared/traces/mini-swe-agent';
const TRACE_FILE = /\.jsonl(\.gz)?$/;
const ALL_AT_ONCE = ['--programs', '30', '--concurrency', '30'];

/** @throws Error when the named recording is missing or ambiguous */
export function makeLoad(name: LoadName, traces: string | undefined): Load {
  switch (name) {
    case 'agents':
      return agents(findTrace(traces));
    case 'fleet':
      return { title: 'fleet, 2 programs/s, 160 programs', speed: 20, args: synthetic('fleet', 2, 160) };
    case 'team':
      return {
        title: 'team (questions, coders, people), 0.8 programs/s, 240 programs',
        speed: 20,
        args: synthetic('team', 0.8, 240),
      };
    case 'mixed':
      // Many more calls a second than the other loads. Of 600 programs at 3.2/s no target ended all in ten minutes.
      return { title: 'mixed, 2.4 programs/s, 120 programs', speed: 6, args: synthetic('mixed', 2.4, 120) };
    case 'small':
      return {
        title: '24 small agents at once',
        speed: 20,
        args: ['--workload', SMALL, '--programs', '24', '--concurrency', '24'],
      };
  }
}

/** Shows in half a minute that everything works. */
export const QUICK: Load = { title: 'fleet, 2 programs/s, 16 programs', speed: 20, args: synthetic('fleet', 2, 16) };

function agents(trace: string | undefined): Load {
  return trace === undefined
    ? {
        title: '30 synthetic agents at once (no recording found)',
        speed: 20,
        args: ['--workload', 'coding', ...ALL_AT_ONCE],
      }
    : { title: '30 recorded agents at once', speed: 20, args: ['--trace', trace, ...ALL_AT_ONCE] };
}

function synthetic(workload: string, rate: number, programs: number): string[] {
  return ['--workload', workload, '--rate', `${rate}`, '--programs', `${programs}`];
}

/** The recording at the path; without a path, the one in the usual place, or undefined. @throws Error without exactly one file */
function findTrace(path: string | undefined): string | undefined {
  if (path === undefined && !existsSync(TRACES)) return undefined;
  const place = path ?? TRACES;
  if (!existsSync(place)) throw new Error(`--traces: no such file or directory: ${place}`);
  if (!statSync(place).isDirectory()) return place;
  const files = readdirSync(place).filter((file) => TRACE_FILE.test(file));
  const [file] = files;
  if (file !== undefined && files.length === 1) return join(place, file);
  throw new Error(`--traces: ${place} holds ${files.length} recordings (.jsonl, .jsonl.gz); name one file`);
}
