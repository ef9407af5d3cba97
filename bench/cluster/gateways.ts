import type { RunMeasures, Scenario, Setup } from '../../lab/index.js';
import type { ClusterOptions } from '../../sim/index.js';
import { mean, percentile, printTable, ratio, say, show } from '../numbers.js';
import { STANDING } from '../order.js';
import { Runs } from '../report/recordings.js';

type Policy = Setup['policy'];

/** Recorded coding agents whose contexts do not fit the engines' caches. */
const AGENTS: Scenario = { ...STANDING['mini-swe-agent, 0.25/s'], count: 150 };

/** Three gateways, a millisecond from the store and back. */
const three = (routing: ClusterOptions['routing'], shares = true) => ({ gateways: 3, delayMs: 0.5, routing, shares });

const PRESSURE: readonly (readonly [name: string, policy: Policy, cluster?: ClusterOptions])[] = [
  ['one', 'plas'],
  ['three, affinity', 'plas', three('program')],
  ['three, any', 'plas', three('call')],
  ['three, apart', 'plas', three('program', false)],
  ['one', 'fcfs-window'],
  ['one', 'pass-through'],
];

/** Contexts that do not fit the engines' caches, over three gateways, in virtual time. */
export async function benchPressure(isQuick: boolean): Promise<void> {
  const runs = await Runs.over(['mini-swe-agent'], isQuick);
  if (!runs.can(AGENTS)) return say('There is no recording of mini-swe-agent: skipped.');
  say(`Recording "mini-swe-agent", ${AGENTS.ratePerSecond} programs a second, ${AGENTS.engines} engines, means of the seeds; virtual time. A message to the store takes
0.5 ms, and one back as long. "affinity": all calls of a program come to one gateway; "apart": the same, and nothing is shared.\n`);
  const rows = PRESSURE.map(([name, policy, cluster]) => {
    const all = runs.of({ ...AGENTS, ...(cluster && { cluster }) }, { policy });
    const of = (figure: (run: RunMeasures) => number | null) => mean(all.map((run) => figure(run) ?? NaN));
    const times = [of((run) => run.program_seconds.mean), of((run) => run.program_seconds.p99)];
    return { name, policy, times, hits: of((run) => run.prefix_hit_rate) };
  });
  printTable(
    ['gateways', 'policy', 'mean s', 'p99 s', 'mean', 'p99', 'cached'],
    rows.map(({ name, policy, times, hits }) => [
      name,
      policy,
      ...times.map((seconds) => show(seconds)),
      ...times.map((seconds, at) => ratio(seconds / (rows[0]?.times[at] ?? NaN))),
      `${(100 * hits).toFixed(1)} %`,
    ]),
  );
}

/** Few slots, so that most calls wait, and 64 gateways have less than a slot each. */
const WINDOW = 4;
/** Programs of each engine, and how many of them come in a second: twice as many as it has slots, almost at once. */
const PROGRAMS = 8;
const RATE = 8;

const ALL = [4, 16, 64];
const ROUTINGS = { any: 'call', affinity: 'program' } as const;
type Way = keyof typeof ROUTINGS;

/** Gateways before so many engines. Few engines have few programs, so they run with more seeds. */
interface Shape {
  readonly engines: number;
  readonly seeds: readonly number[];
  /** Numbers of gateways: where calls come to, and the times of a message to the store, as of one back. */
  readonly runs: readonly (readonly [gateways: readonly number[], way: Way, delaysMs: readonly number[]])[];
}

const both = (gateways: readonly number[]): Shape['runs'] => [
  [gateways, 'any', [5]],
  [gateways, 'affinity', [5]],
];
const SHAPES: readonly Shape[] = [
  { engines: 8, seeds: [1, 2, 3, 4], runs: both(ALL) },
  { engines: 32, seeds: [1], runs: [[ALL, 'any', [0.25, 25]], ...both(ALL)] },
  { engines: 128, seeds: [1], runs: both(ALL) },
  { engines: 512, seeds: [1], runs: [[[4, 16], 'any', [5]]] },
];
const QUICK: readonly Shape[] = [{ engines: 8, seeds: [1], runs: both([4]) }];

/** Gateways that share a store, against one that has all calls, in virtual time: the same on any machine. */
export async function benchGateways(isQuick: boolean): Promise<void> {
  say(`Workload "react", ${PROGRAMS} programs an engine, ${RATE} a second for each, window ${WINDOW}; virtual time. Staleness: a message to the store
and one back. Times of programs over those with one gateway: mean, p99, and the program that 1 % exceed ("slower").
"wait": the longest of a call. "any": each call comes to any gateway; "affinity": all of a program to one.\n`);
  const runs = await Runs.over([]);
  for (const { engines, seeds, runs: wanted } of isQuick ? QUICK : SHAPES) {
    const load: Scenario = {
      programs: { workload: 'react' },
      count: PROGRAMS * engines,
      ratePerSecond: RATE * engines,
      engines,
      machine: 'llama-3.1-8b-a100',
    };
    const figuresOf = (policy: Policy, cluster?: ClusterOptions) => {
      const made = runs.of(
        { ...load, ...(cluster && { cluster }) },
        { policy, settings: { 'admission.window': WINDOW } },
        [...seeds],
      );
      const times = new Map(
        made.flatMap(({ completions = [] }) => [...completions].map(([id, { seconds }]) => [id, seconds] as const)),
      );
      return { times, waitSeconds: Math.max(...made.map((run) => run.queue_seconds.max ?? 0)) };
    };
    const one = figuresOf('plas');
    const cells = ({ times, waitSeconds }: typeof one): string[] => {
      const figures = [mean, (all: readonly number[]) => percentile(all, 0.99)];
      const ratios = figures.map((of) => of([...times.values()]) / of([...one.times.values()]));
      const slower = [...times].map(([program, seconds]) => seconds / (one.times.get(program) ?? NaN));
      return [...[...ratios, percentile(slower, 0.99)].map(ratio), show(waitSeconds)];
    };
    const others = wanted.flatMap(([counts, way, delaysMs]) =>
      counts.flatMap((gateways) =>
        delaysMs.map((delayMs) => ({ way, cluster: { gateways, delayMs, routing: ROUTINGS[way], shares: true } })),
      ),
    );
    printTable(
      [`gateways before ${engines} engines`, 'staleness, ms', 'calls', 'mean', 'p99', 'slower', 'wait s'],
      [
        ['1', '-', 'plas', ...cells(one)],
        ['1', '-', 'fcfs-window', ...cells(figuresOf('fcfs-window'))],
        ...others.map(({ way, cluster }) => [
          `${cluster.gateways}`,
          `${2 * cluster.delayMs}`,
          way,
          ...cells(figuresOf('plas', cluster)),
        ]),
      ],
    );
  }
}
