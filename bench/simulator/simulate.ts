import { makeBalancer } from '../../loadbalancer/index.js';
import { makeSteps, PRESETS, runWorld, type SimPolicyName, type WorldResult } from '../../sim/index.js';
import { programs, WORKLOADS } from '../../workloads/index.js';
import { printTable, say, show } from '../numbers.js';
import { loadConfig } from '../../sidecar/config/load.js';

/** Started by `speed.ts` with --expose-gc and the scale of the runs; 1 is full size. */
const scale = Number(process.argv[2]);
/** Programs at any time for each engine, which keeps all of them busy. */
const CONCURRENCY = 100;
const PROGRAMS: readonly (readonly [engines: number, programs: number])[] = [
  [1, 2000],
  [8, 4000],
  // Fewer programs than these engines run at once would show nothing.
  ...(scale === 1 ? ([[64, 10_000]] as const) : []),
];

interface Run {
  readonly policy?: SimPolicyName;
  readonly engines: number;
  readonly count: number;
  readonly alone?: boolean;
  readonly ended?: (programs: number) => void;
}

function simulate({ policy = 'plas', engines, count, alone = false, ended }: Run): WorldResult {
  const config = loadConfig({});
  let programsEnded = 0;
  return runWorld({
    programs: programs(WORKLOADS.mixed, 1),
    maxPrograms: count,
    arrivals: { type: 'closed', concurrency: CONCURRENCY * engines },
    seed: 1,
    engines,
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
    observer: { programEnded: () => ended?.(++programsEnded) },
    alone,
  });
}

function row(label: string, run: Run): string[] {
  const [wallMs, cpu] = [performance.now(), process.cpuUsage()];
  const { calls, makespanMs } = simulate(run);
  const seconds = (performance.now() - wallMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const cells = [run.engines, calls, calls / seconds, calls / ((user + system) / 1e6), makespanMs / 1000 / seconds];
  return [label, ...cells.map((value) => show(value))];
}

/** Bytes in use after each of these numbers of ended programs, all in one run. */
function heapAt(counts: readonly number[]): number[] {
  const bytes: number[] = [];
  simulate({
    engines: 1,
    count: Math.max(...counts) + CONCURRENCY,
    ended(programsEnded) {
      if (!counts.includes(programsEnded)) return;
      globalThis.gc?.();
      bytes.push(process.memoryUsage().heapUsed);
    },
  });
  return bytes;
}

// One warm-up run, so that all code is compiled.
simulate({ engines: 2, count: 1000 * Math.sqrt(scale) });
const rows = PROGRAMS.map(([engines, count]) => row('plas', { engines, count: count * scale }));
if (scale === 1) rows.push(row('plas, each program also alone', { engines: 1, count: 2000, alone: true }));
for (const policy of scale === 1 ? (['pass-through', 'srpt'] as const) : (['pass-through'] as const))
  rows.push(row(policy, { policy, engines: 1, count: 2000 * scale }));
printTable(['mixed, at saturation', 'engines', 'calls', 'calls/s', 'calls/CPU s', 'times real time'], rows);

const counts = [2000, 10_000].map((count) => count * scale);
const heap = heapAt(counts);
say('');
printTable(
  ['programs ended, one engine', 'heap'],
  counts.map((count, index) => [show(count), show((heap[index] ?? NaN) / 1e6, ' MB')]),
);
