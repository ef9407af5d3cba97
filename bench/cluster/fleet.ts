import { runCase, type Surroundings } from '../../lab/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import type { ClusterOptions } from '../../sim/index.js';
import { printTable, ratio, say, show } from '../numbers.js';
import { HOOKS, readAgents, RECORDING, SCENARIO, shared } from './agents.js';
import { play, type LiveArm, type LiveFigures } from './play.js';
import { startServer } from './server.js';

/** In full, as fast as the live runs that agree with simulated ones. */
const FULL = { count: 100, speed: 10, seeds: [1, 2, 3] };
const QUICK = { count: 4, speed: 40, seeds: [1] };

const ARMS: readonly (LiveArm & { readonly cluster?: ClusterOptions })[] = [
  { name: 'one', policy: 'plas', gateways: 1 },
  { name: 'three, affinity', policy: 'plas', gateways: 3, cluster: shared('program') },
  { name: 'three, any', policy: 'plas', gateways: 3, cluster: shared('call') },
  { name: 'one', policy: 'pass-through', gateways: 1 },
];

interface Row {
  readonly live: LiveFigures[];
  readonly simulatedS: number[];
}

/** Recorded coding agents over three gateways and a real store, in real time. */
export async function benchFleet(quick: boolean): Promise<void> {
  const agents = await readAgents();
  if (agents === undefined) return;
  const { recordings, recorded } = agents;
  const store = await startServer();
  if (store === undefined) return say('redis-server is not installed: skipped.');
  const { count, speed, seeds } = quick ? QUICK : FULL;
  say(`Recording "${RECORDING}", ${count} programs, ${SCENARIO.ratePerSecond} a second, ${SCENARIO.engines} stand-in engines, seeds ${seeds.join(', ')}; live, ${speed} times as fast as real, through HTTP and
a redis-server. Times as they would really be. "affinity": all calls of a program come to one gateway; "any": each to any.
"simulated": the mean of the same programs in virtual time. CPU of a core: the busiest gateway, the busiest engine, the store, and this process.\n`);
  const rows: Row[] = ARMS.map(() => ({ live: [], simulatedS: [] }));
  const around = { config: loadConfig({}), recordings };
  try {
    for (const [round, seed] of seeds.entries())
      // Arms take turns in going first.
      for (const index of ARMS.map((_, i) => (i + round) % ARMS.length)) {
        const arm = ARMS[index]!;
        const figures = await play(arm, { seed, count, speed, store, recorded, ...SCENARIO });
        const row = rows[index]!;
        row.live.push(figures);
        row.simulatedS.push(simulatedMeanS(arm, count, seed, around));
        say(`seed ${seed}, ${arm.name}, ${arm.policy}: ${lineOf(figures)}`);
      }
  } finally {
    await store.stop();
  }
  say('');
  print(rows);
}

const lineOf = ({ meanS, p99S, hitShare, tookS, failed, late, cores }: LiveFigures): string =>
  `mean ${show(meanS)} s, p99 ${show(p99S)} s, cached ${percent(hitShare, 1)}, failed ${failed}, late ${late}, CPU ${coresOf(cores)}; ${show(tookS)} s live`;

const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;
const coresOf = (cores: readonly number[]): string => cores.map((each) => percent(each)).join(', ');

function simulatedMeanS(
  { policy, cluster }: (typeof ARMS)[number],
  count: number,
  seed: number,
  around: Surroundings,
): number {
  const scenario = { ...SCENARIO, count, ...(cluster && { cluster }) };
  return runCase({ scenario, setup: { policy } }, seed, around, HOOKS).program_seconds.mean ?? NaN;
}

function print(rows: readonly Row[]): void {
  const of = (row: Row, figure: (figures: LiveFigures) => number) => mean(row.live.map(figure));
  const one = rows[0]!;
  printTable(
    ['gateways', 'policy', 'mean s', 'p99 s', 'mean', 'p99', 'simulated', 'cached', 'failed', 'late', 'CPU'],
    rows.map((row, i) => [
      ARMS[i]!.name,
      ARMS[i]!.policy,
      show(of(row, ({ meanS }) => meanS)),
      show(of(row, ({ p99S }) => p99S)),
      ratio(of(row, ({ meanS }) => meanS) / of(one, ({ meanS }) => meanS)),
      ratio(of(row, ({ p99S }) => p99S) / of(one, ({ p99S }) => p99S)),
      ratio(mean(row.simulatedS) / mean(one.simulatedS)),
      percent(
        of(row, ({ hitShare }) => hitShare),
        1,
      ),
      `${row.live.reduce((sum, { failed }) => sum + failed, 0)}`,
      `${row.live.reduce((sum, { late }) => sum + late, 0)}`,
      coresOf([0, 1, 2, 3].map((part) => of(row, ({ cores }) => cores[part] ?? NaN))),
    ]),
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
