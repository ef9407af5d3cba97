import { makeBalancer } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import {
  makeSteps,
  PRESETS,
  runWorld,
  type CallRecord,
  type ClusterOptions,
  type SimPolicyName,
} from '../../sim/index.js';
import { programs, WORKLOADS } from '../../workloads/index.js';
import { percentile, ratio, say, show } from '../numbers.js';

/** Few slots, so that most calls wait, and 64 gateways have less than a slot each. */
const WINDOW = 4;
/** Programs of each engine, and how many of them come in a second: twice as many as it has slots, almost at once. */
const PROGRAMS = 8;
const RATE = 8;

const WAYS = {
  any: { routing: 'call', shares: true },
  affinity: { routing: 'program', shares: true },
} as const satisfies Record<string, Pick<ClusterOptions, 'routing' | 'shares'>>;
type Way = keyof typeof WAYS;

/** Gateways before so many engines. Few engines have few programs, so they run with more seeds. */
interface Shape {
  readonly engines: number;
  readonly seeds: number;
  /** Runs of each number of gateways: calls, and the time of a message to the store and of one back. */
  readonly runs: readonly (readonly [gateways: readonly number[], way: Way, delaysMs: readonly number[]])[];
}

const ALL = [4, 16, 64];
const BOTH = [
  [ALL, 'any', [5]],
  [ALL, 'affinity', [5]],
] as const;
const SHAPES: readonly Shape[] = [
  { engines: 8, seeds: 4, runs: BOTH },
  { engines: 32, seeds: 1, runs: [[ALL, 'any', [0.25, 25]], ...BOTH] },
  { engines: 128, seeds: 1, runs: BOTH },
  { engines: 512, seeds: 1, runs: [[[4, 16], 'any', [5]]] },
];
const QUICK: readonly Shape[] = [{ engines: 8, seeds: 1, runs: BOTH.map(([, ...rest]) => [[4], ...rest]) }];

const COLUMNS = ['gateways', 'engines', 'staleness ms', 'calls', 'mean', 'p99', 'slower', 'wait s', 'most'];

/** Time of each program, by seed and name. */
type Times = ReadonlyMap<string, number>;

interface Figures {
  readonly times: Times;
  readonly longestWaitMs: number;
  /** Most calls of one engine in flight. */
  readonly most: number;
}

/** Gateways that share a store, against one that has all calls, in virtual time: the same on any machine. */
export function benchGateways(quick: boolean): void {
  say(`Workload "react", ${PROGRAMS} programs an engine, ${RATE} a second for each, window ${WINDOW}; virtual time. Staleness: a message to the store
and one back. Times of programs over those with one gateway: mean, p99, and the program that 1 % exceed ("slower").
"wait": the longest of a call. "most": calls of one engine in flight. "any": each call comes to any gateway; "affinity":
all of a program to one.\n`);
  printRow(COLUMNS);
  for (const shape of quick ? QUICK : SHAPES) {
    const { engines } = shape;
    const one = runAll(shape, 'plas');
    const head = (gateways: number, staleness: string, way: string) => [`${gateways}`, `${engines}`, staleness, way];
    printRow([...head(1, '-', 'plas'), ...cellsOf(one, one)]);
    printRow([...head(1, '-', 'fcfs-window'), ...cellsOf(runAll(shape, 'fcfs-window'), one)]);
    for (const [counts, way, delaysMs] of shape.runs)
      for (const gateways of counts)
        for (const delayMs of delaysMs)
          printRow([
            ...head(gateways, `${2 * delayMs}`, way),
            ...cellsOf(runAll(shape, 'plas', { gateways, delayMs, ...WAYS[way] }), one),
          ]);
  }
}

/** Rows are printed as they come: some take minutes. */
const printRow = (cells: readonly string[]): void =>
  say(cells.map((cell, i) => cell.padStart(Math.max(12, COLUMNS[i]?.length ?? 0))).join(''));

function cellsOf({ times, longestWaitMs, most }: Figures, one: Figures): string[] {
  const mean = (of: Times) => [...of.values()].reduce((sum, ms) => sum + ms, 0) / of.size;
  const p99 = (of: Times) => percentile(of.values(), 0.99);
  const slower = [...times].map(([program, ms]) => ms / (one.times.get(program) ?? NaN));
  const ratios = [mean(times) / mean(one.times), p99(times) / p99(one.times), percentile(slower, 0.99)];
  return [...ratios.map(ratio), show(longestWaitMs / 1000), `${most}`];
}

function runAll({ engines, seeds }: Shape, policy: SimPolicyName, cluster?: ClusterOptions): Figures {
  const times = new Map<string, number>();
  let [longestWaitMs, most] = [0, 0];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const calls: CallRecord[] = [];
    runOnce(engines, policy, seed, cluster, calls, times);
    longestWaitMs = calls.reduce(
      (longest, call) => Math.max(longest, call.dispatchedMs - call.arrivedMs),
      longestWaitMs,
    );
    most = Math.max(most, mostInFlight(calls));
  }
  return { times, longestWaitMs, most };
}

function runOnce(
  engines: number,
  policy: SimPolicyName,
  seed: number,
  cluster: ClusterOptions | undefined,
  calls: CallRecord[],
  times: Map<string, number>,
): void {
  const base = loadConfig({});
  const config = { ...base, admission: { ...base.admission, window: WINDOW } };
  runWorld({
    programs: programs(WORKLOADS.react, seed),
    maxPrograms: PROGRAMS * engines,
    arrivals: { type: 'open', ratePerSecond: RATE * engines, cv: 1 },
    seed,
    engines,
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
    scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
    ...(cluster && { cluster }),
    observer: {
      callEnded: (call) => calls.push(call),
      programEnded: ({ program, arrivedMs, endedMs }) => times.set(`${seed} ${program}`, endedMs - arrivedMs),
    },
    alone: false,
  });
}

/** Most calls that one engine ran at once. Ends make room before anything begins. */
export function mostInFlight(calls: readonly CallRecord[]): number {
  const changes = calls
    .flatMap(({ engine, dispatchedMs, endedMs }) => [
      { engine, atMs: dispatchedMs, by: 1 },
      { engine, atMs: endedMs, by: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  const inFlight = new Map<string | undefined, number>();
  let most = 0;
  for (const { engine, by } of changes) {
    const now = (inFlight.get(engine) ?? 0) + by;
    inFlight.set(engine, now);
    most = Math.max(most, now);
  }
  return most;
}
