import { Command } from 'commander';
import { join } from 'node:path';
import { readRecordings } from '../report/recordings.js';
import type { ClusterOptions } from '../../sim/index.js';
import { say, printTable, ratio, show } from '../numbers.js';
import { runCase, type Case } from '../../lab/index.js';
import { loadConfig } from '../../sidecar/config/load.js';

const RECORDING = 'mini-swe-agent';
const TRACES = join('..', 'shared', 'traces');

/** Recorded coding agents whose contexts do not fit the engines' caches. */
const SCENARIO = {
  programs: { recording: RECORDING },
  ratePerSecond: 0.25,
  engines: 2,
  machine: 'llama-3.1-8b-a100',
} as const;
const HOOKS = { shouldStop: () => false, onProgress: () => undefined };

/** Three gateways, a millisecond from the store and back. */
const shared = (routing: ClusterOptions['routing']) => ({ gateways: 3, delayMs: 0.5, routing, shares: true });

/** Undefined, with the reason on stdout: there is no recording. */
async function readAgents() {
  const recordings = await readRecordings(new Command('bench'), TRACES, new Set([RECORDING]));
  const recorded = recordings[RECORDING];
  if (recorded !== undefined) return { recordings, recorded };
  say(`There is no recording in ${TRACES}: skipped.`);
  return undefined;
}

const COUNT = { quick: 10, full: 150 };
const SEEDS = [1, 2, 3];

const WAYS: readonly (readonly [name: string, policy: Case['setup']['policy'], cluster?: ClusterOptions])[] = [
  ['one', 'plas'],
  ['three, affinity', 'plas', shared('program')],
  ['three, any', 'plas', shared('call')],
  ['three, apart', 'plas', { ...shared('program'), shares: false }],
  ['one', 'fcfs-window'],
  ['one', 'pass-through'],
];

/** Recorded coding agents whose contexts do not fit the engines' caches, over three gateways, in virtual time. */
export async function benchPressure(quick: boolean): Promise<void> {
  const agents = await readAgents();
  if (agents === undefined) return;
  const count = quick ? COUNT.quick : COUNT.full;
  const seeds = quick ? SEEDS.slice(0, 1) : SEEDS;
  say(`Recording "${RECORDING}", ${count} programs, ${SCENARIO.ratePerSecond} a second, ${SCENARIO.engines} engines, means of ${seeds.length} seeds; virtual time. A message to the
store takes ${shared('call').delayMs} ms, and one back as long. "affinity": all calls of a program come to one gateway; "apart": the same, and nothing is shared.\n`);
  const around = { config: loadConfig({}), recordings: agents.recordings };
  const rows = WAYS.map(([name, policy, cluster]) => {
    const scenario = { ...SCENARIO, count, ...(cluster && { cluster }) };
    const runs = seeds.map((seed) => runCase({ scenario, setup: { policy } }, seed, around, HOOKS));
    const meanS = mean(runs.map(({ program_seconds }) => program_seconds.mean ?? NaN));
    const p99S = mean(runs.map(({ program_seconds }) => program_seconds.p99 ?? NaN));
    const hits = mean(runs.map(({ prefix_hit_rate }) => prefix_hit_rate ?? NaN));
    return { name, policy, meanS, p99S, hits };
  });
  const one = rows[0]!;
  printTable(
    ['gateways', 'policy', 'mean s', 'p99 s', 'mean', 'p99', 'cached'],
    rows.map(({ name, policy, meanS, p99S, hits }) => [
      name,
      policy,
      show(meanS),
      show(p99S),
      ratio(meanS / one.meanS),
      ratio(p99S / one.p99S),
      `${(100 * hits).toFixed(1)} %`,
    ]),
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
