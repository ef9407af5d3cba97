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
import { mostInFlight } from './in-flight.js';
import { percentile, printTable, ratio, say } from '../numbers.js';

const WINDOW = 64;
/** Programs a second for each engine: more than it serves at once, fewer than it serves in the end. */
const RATE = 0.5;
/** Programs for each engine, and seeds. */
interface Size {
  readonly programs: number;
  readonly seeds: readonly number[];
}
const FULL: Size = { programs: 100, seeds: [1, 2, 3] };
const QUICK: Size = { programs: 3, seeds: [1] };
/** The shape of a quick run. */
const isQuick = ({ gateways, delayMs }: Shape) => gateways === 4 && delayMs === 5;

type Shape = Pick<ClusterOptions, 'gateways' | 'delayMs'> & { readonly engines: number };

const SHAPES: readonly Shape[] = [
  ...[4, 16, 64].flatMap((gateways) => [0.5, 5, 50].map((delayMs) => ({ engines: 8, gateways, delayMs }))),
  ...[4, 16, 64].map((gateways) => ({ engines: 32, gateways, delayMs: 5 })),
];

interface Figures {
  readonly meanMs: number;
  readonly p99Ms: number;
  /** Most calls of one engine in flight. */
  readonly most: number;
}

/** Gateways that share a store, against one that has all calls, in virtual time: the same on any machine. */
export function benchGateways(quick: boolean): void {
  const size = quick ? QUICK : FULL;
  const run = (engines: number, cluster?: ClusterOptions, policy?: SimPolicyName) =>
    meanOf(size, engines, cluster, policy);
  say(`Workload "mixed", ${size.programs} programs an engine, ${RATE} a second for each, ${size.seeds.length} seeds, window ${WINDOW}; virtual time. Staleness: a message to
the store and one back. Ratios of program times to those of one gateway. "most": calls of one engine in flight.
"any": each call comes to any gateway; "affinity": all of a program to one; "apart": the same, and nothing is shared.\n`);
  const rows: string[][] = [];
  for (const engines of quick ? [8] : [8, 32]) {
    const one = run(engines);
    const through = run(engines, undefined, 'pass-through');
    rows.push(
      rowOf(['1', `${engines}`, '-', 'plas'], one, one),
      rowOf(['1', `${engines}`, '-', 'pass-through'], through, one),
    );
    for (const shape of SHAPES.filter((each) => each.engines === engines && (!quick || isQuick(each)))) {
      const { gateways, delayMs } = shape;
      const head = (name: string) => [`${gateways}`, `${engines}`, `${2 * delayMs}`, name];
      const ways = { any: { routing: 'call', shares: true }, affinity: { routing: 'program', shares: true } } as const;
      for (const [name, way] of Object.entries(ways))
        rows.push(rowOf(head(name), run(engines, { gateways, delayMs, ...way }), one));
      if (delayMs === 5)
        rows.push(rowOf(head('apart'), run(engines, { gateways, delayMs, routing: 'program', shares: false }), one));
    }
  }
  printTable(['gateways', 'engines', 'staleness ms', 'calls', 'mean', 'p99', 'most'], rows);
}

const rowOf = (head: readonly string[], { meanMs, p99Ms, most }: Figures, one: Figures): string[] => [
  ...head,
  ratio(meanMs / one.meanMs),
  ratio(p99Ms / one.p99Ms),
  `${most}`,
];

/** Means over the seeds; the largest `most`. */
function meanOf(size: Size, engines: number, cluster?: ClusterOptions, policy: SimPolicyName = 'plas'): Figures {
  const each = size.seeds.map((seed) => runOnce(size.programs * engines, engines, cluster, policy, seed));
  const mean = (of: (figures: Figures) => number) => each.reduce((sum, one) => sum + of(one), 0) / each.length;
  return {
    meanMs: mean(({ meanMs }) => meanMs),
    p99Ms: mean(({ p99Ms }) => p99Ms),
    most: Math.max(...each.map(({ most }) => most)),
  };
}

function runOnce(
  count: number,
  engines: number,
  cluster: ClusterOptions | undefined,
  policy: SimPolicyName,
  seed: number,
): Figures {
  const base = loadConfig({});
  const config = { ...base, admission: { ...base.admission, window: WINDOW } };
  const times: number[] = [];
  const calls: CallRecord[] = [];
  runWorld({
    programs: programs(WORKLOADS.mixed, seed),
    maxPrograms: count,
    arrivals: { type: 'open', ratePerSecond: RATE * engines, cv: 1 },
    seed,
    engines,
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
    ...(cluster && { cluster }),
    observer: {
      callEnded: (call) => calls.push(call),
      programEnded: ({ arrivedMs, endedMs }) => times.push(endedMs - arrivedMs),
    },
    alone: false,
  });
  const meanMs = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { meanMs, p99Ms: percentile(times, 0.99), most: mostInFlight(calls) };
}
