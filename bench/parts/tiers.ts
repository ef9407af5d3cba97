import { RECORDING_NAMES, runCase, type Case } from '../../lab/index.js';
import { printTable, say } from '../numbers.js';
import { HOOKS, surroundings } from './around.js';
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
  const around = await surroundings(RECORDING_NAMES);
  const loads = LOADS.filter(
    ([, { programs }]) => !('recording' in programs) || around.recordings[programs.recording] !== undefined,
  );
  const rows = loads.map(([name, { hostTokens = 0, ...scenario }]) => {
    const count = isQuick ? Math.ceil(scenario.count / 10) : scenario.count;
    const cell = (setup: Setup, tokens: number) =>
      cellOf(
        (isQuick ? [1] : [1, 2, 3]).map((seed) =>
          runCase({ scenario: { ...scenario, count, hostTokens: tokens }, setup }, seed, around, HOOKS),
        ),
      );
    const none = Object.values(SETUPS).filter(({ settings }) => settings === undefined);
    return [name, ...none.map((setup) => cell(setup, 0)), ...Object.values(SETUPS).map((setup) => cell(setup, hostTokens))]; // prettier-ignore
  });
  const names = Object.keys(SETUPS);
  printTable(['load, host', 'no host: pass-through', 'plas', ...names.map((name) => `host: ${name}`)], rows);
  say(CELLS);
}
