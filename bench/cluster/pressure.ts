import { runCase, type Case } from '../../lab/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import type { ClusterOptions } from '../../sim/index.js';
import { printTable, ratio, say, show } from '../numbers.js';
import { HOOKS, readAgents, RECORDING, SCENARIO, shared } from './agents.js';

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
