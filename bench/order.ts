import { RECORDING_NAMES, type RunMeasures, type Scenario, type Setup } from '../lab/index.js';
import { mean, printTable, say } from './numbers.js';
import { Runs } from './report/recordings.js';

const A100 = 'llama-3.1-8b-a100';
const one = (workload: 'mixed' | 'react' | 'chat' | 'mcts' | 'team', ratePerSecond: number, count: number) =>
  ({ programs: { workload }, count, ratePerSecond, engines: 1, machine: A100 }) satisfies Scenario;
/** Each call comes to any of them: the harder case. */
const THREE: Scenario['cluster'] = { gateways: 3, delayMs: 1, routing: 'call', shares: true };
const fleet = {
  programs: { workload: 'fleet' },
  count: 400,
  ratePerSecond: 0.9,
  engines: 2,
  machine: A100,
} satisfies Scenario;
const recorded: Scenario = {
  programs: { recording: 'mini-swe-agent' },
  count: 250,
  ratePerSecond: 0.25,
  engines: 2,
  machine: A100,
};

/** The standing loads. */
export const STANDING = {
  'mini-swe-agent, 0.25/s': recorded,
  'agentcgroup, 0.05/s': { ...recorded, programs: { recording: 'agentcgroup' }, count: 150, ratePerSecond: 0.05 },
  'weka, 0.02/s': {
    ...recorded,
    programs: { recording: 'weka' },
    count: 80,
    ratePerSecond: 0.02,
    machine: 'long-context',
  },
  'mixed, 0.8/s': one('mixed', 0.8, 600),
  'mixed, 1.2/s': one('mixed', 1.2, 600),
  'mixed, 1.6/s': one('mixed', 1.6, 600),
  'fleet, 0.9/s': fleet,
  'react, 4/s': one('react', 4, 1000),
  'chat, 4/s': one('chat', 4, 1000),
  'chat, 6/s': one('chat', 6, 1000),
  'coding, 0.2/s': {
    programs: { workload: 'coding' },
    count: 200,
    ratePerSecond: 0.2,
    engines: 2,
    machine: 'qwen3-coder-30b-a3b',
  },
  'mcts, 0.3/s': one('mcts', 0.3, 300),
  'team, 0.3/s': one('team', 0.3, 600),
  'team, 0.5/s': one('team', 0.5, 600),
  'fleet, production': { ...fleet, conditions: 'production' },
  'mini-swe-agent, production': { ...recorded, conditions: 'production' },
  'mini-swe-agent, 3 gateways': { ...recorded, cluster: THREE },
  'mixed, 1.2/s, 3 gateways': { ...one('mixed', 1.2, 600), cluster: THREE },
  'team, 0.3/s, 3 gateways': { ...one('team', 0.3, 600), cluster: THREE },
} satisfies Readonly<Record<string, Scenario>>;

const UNCOUNTED = { 'policy.countPrompt': false };
const LUMPED = { ...UNCOUNTED, 'admission.forecast': 'length' };
const CHAIN = { ...LUMPED, 'policy.charge': 'chain', 'policy.order': 'attained' };

/** The paper's rule, each step from it to the default; the default with a part less; and the orders to compare with. */
const STEPS: Readonly<Record<string, Setup>> = {
  chain: { policy: 'plas', settings: CHAIN },
  '+ work': { policy: 'plas', settings: { ...CHAIN, 'policy.charge': 'work' } },
  '+ learnt order': { policy: 'plas', settings: LUMPED },
  '+ forecast by type': { policy: 'plas', settings: UNCOUNTED },
  '+ prefill: default': { policy: 'plas' },
  'no knee': { policy: 'plas', settings: { 'admission.batching': 'none' } },
  'fcfs-window': { policy: 'fcfs-window' },
  'las-decayed': { policy: 'las-decayed' },
  'pass-through': { policy: 'pass-through' },
  srpt: { policy: 'srpt' },
};

export async function benchOrder(isQuick: boolean): Promise<void> {
  const runs = await Runs.over(RECORDING_NAMES, isQuick);
  const rows = Object.entries<Scenario>(STANDING)
    .filter(([, scenario]) => runs.can(scenario))
    .map(([name, scenario]) => [name, ...Object.values(STEPS).map((setup) => cellOf(runs.of(scenario, setup)))]);
  printTable(['load', ...Object.keys(STEPS)], rows);
  say('Means of the seeds: mean and p99 of programs in seconds, ms a token, longest wait of a call in seconds.');
}

const FIGURES: readonly ((run: RunMeasures) => number | null)[] = [
  (run) => run.program_seconds.mean,
  (run) => run.program_seconds.p99,
  (run) => (run.seconds_per_token.mean ?? NaN) * 1000,
  (run) => run.queue_seconds.max,
];

const shown = (value: number): string =>
  Number.isNaN(value) ? '-' : value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });

const cellOf = (runs: readonly RunMeasures[]): string =>
  FIGURES.map((figure) => shown(mean(runs.map((run) => figure(run) ?? NaN)))).join(' · ');
