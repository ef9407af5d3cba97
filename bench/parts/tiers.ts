import { atEfficiency, EFFICIENCIES, RECORDING_NAMES, type Case, type RunMeasures } from '../../lab/index.js';
import { printTable, say } from '../numbers.js';
import { Runs } from '../report/recordings.js';
import { CELLS, cellOf, ORDER_LOADS } from './order.js';

type Scenario = Case['scenario'];
type Setup = Case['setup'];

/** Standing loads whose contexts outgrow the KV cache, and that cache in tokens. */
const STANDING: Readonly<Record<string, number>> = {
  'mini-swe-agent, 0.25/s': 432_000,
  'agentcgroup, 0.05/s': 432_000,
  'weka, 0.02/s': 432_000,
  'coding, 0.2/s': 120_000,
  'fleet, 0.9/s': 432_000,
};
/** Host memory as a multiple of the KV cache. */
const HOSTS = [2, 4];

/** Tokencake's setting (7.1): 24 programs on an A100 that serves a model of 14B, 192 KiB a token, beside 100 GB. */
const tokencake = (ratePerSecond: number): Scenario => ({
  programs: { workload: 'examples/workloads/tokencake.yaml' },
  count: 24,
  ratePerSecond,
  engines: 1,
  machine: 'llama-3.1-8b-a100',
  kvTokens: 220_000,
  hostTokens: 508_000,
});

const LOADS: readonly (readonly [name: string, scenario: Scenario])[] = [
  ...Object.entries(STANDING).flatMap(
    ([name, kvTokens]) =>
    HOSTS.map((times) => [`${name}; host ${times}`, { ...(ORDER_LOADS[name] as Scenario), hostTokens: times * kvTokens }] as const), // prettier-ignore
  ),
  ...[0.05, 0.2, 1].map((rate) => [`tokencake, ${rate}/s`, tokencake(rate)] as const),
];

const SETUPS: Readonly<Record<string, Setup>> = {
  'pass-through': { policy: 'pass-through' },
  'gate by the KV cache': { policy: 'plas', settings: { 'admission.hostGate': 0 } },
  'by both tiers': { policy: 'plas' },
};

/** Prints what host memory is worth, and what it is worth that the gate knows of it. Virtual time. */
export async function benchTiers(isQuick: boolean): Promise<void> {
  const runs = await Runs.over(RECORDING_NAMES, isQuick);
  const setups = Object.entries(SETUPS);
  const rows = LOADS.filter(([, scenario]) => runs.can(scenario)).map(([name, scenario]) => {
    const none = { ...scenario, hostTokens: 0 };
    const without = [0, 2].map((index) => cellOf(runs.of(none, setups[index]?.[1] as Setup)));
    const byEfficiency = EFFICIENCIES.map((efficiency) =>
      setups.map(([, setup]) => runs.of(atEfficiency(scenario, efficiency), setup)),
    );
    const shares = [0, 1].map((base) => shareOf(byEfficiency.map((cells) => mean(cells[2]) / mean(cells[base]))));
    return { cells: [name, ...without, ...(byEfficiency[0] ?? []).map(cellOf)], shares: [name, ...shares] };
  });
  const names = setups.map(([name]) => name);
  printTable(
    ['load, host', 'no host: pass-through', 'gate', ...names.map((name) => `host: ${name}`)],
    rows.map(({ cells }) => cells),
  );
  say(CELLS);
  printTable(
    ['load, host', ...names.slice(0, 2).map((name) => `by both tiers / ${name}`)],
    rows.map(({ shares }) => shares),
  );
  say('Ratios of means; in brackets at the low and the high efficiency of the preset.');
}

const mean = (runs: readonly RunMeasures[] = []): number =>
  runs.reduce((sum, { program_seconds }) => sum + (program_seconds.mean ?? NaN), 0) / runs.length;

const shareOf = ([middle, ...bounds]: readonly number[]): string =>
  `${middle?.toFixed(2)} (${bounds.map((bound) => bound.toFixed(2)).join(', ')})`;
