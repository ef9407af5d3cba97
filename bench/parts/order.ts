import { existsSync } from 'node:fs';
import { Command } from 'commander';
import {
  RECORDING_NAMES,
  runCase,
  type Case,
  type RunMeasures,
  GAP_SECONDS_MAX,
  type Surroundings,
} from '../../lab/index.js';
import { printTable, say } from '../numbers.js';
import { HOOKS, surroundings } from '../report/recordings.js';
import { readRecording } from '../../cli/recording.js';
import { Faults } from '../../cli/trace-file.js';
import { withShortGaps } from '../../workloads/index.js';

type Scenario = Case['scenario'];
type Setup = Case['setup'];

const A100 = 'llama-3.1-8b-a100';
const one = (
  workload: 'mixed' | 'react' | 'chat' | 'mcts' | 'team',
  ratePerSecond: number,
  count: number,
): Scenario => ({
  programs: { workload },
  count,
  ratePerSecond,
  engines: 1,
  machine: A100,
});
/** Each call comes to any of them: the harder case. */
const THREE: Scenario['cluster'] = { gateways: 3, delayMs: 1, routing: 'call', shares: true };
const fleet: Scenario = { programs: { workload: 'fleet' }, count: 400, ratePerSecond: 0.9, engines: 2, machine: A100 };
const recorded: Scenario = { programs: { recording: 'mini-swe-agent' }, count: 250, ratePerSecond: 0.25, engines: 2, machine: A100 }; // prettier-ignore

/** The standing loads. */
export const ORDER_LOADS: Readonly<Record<string, Scenario>> = {
  'mini-swe-agent, 0.25/s': recorded,
  'agentcgroup, 0.05/s': { ...recorded, programs: { recording: 'agentcgroup' }, count: 150, ratePerSecond: 0.05 },
  'weka, 0.02/s': { ...recorded, programs: { recording: 'weka' }, count: 80, ratePerSecond: 0.02, machine: 'long-context' }, // prettier-ignore
  'mixed, 0.8/s': one('mixed', 0.8, 600),
  'mixed, 1.2/s': one('mixed', 1.2, 600),
  'mixed, 1.6/s': one('mixed', 1.6, 600),
  'fleet, 0.9/s': fleet,
  'react, 4/s': one('react', 4, 1000),
  'chat, 4/s': one('chat', 4, 1000),
  'chat, 6/s': one('chat', 6, 1000),
  'coding, 0.2/s': { programs: { workload: 'coding' }, count: 200, ratePerSecond: 0.2, engines: 2, machine: 'qwen3-coder-30b-a3b' }, // prettier-ignore
  'mcts, 0.3/s': one('mcts', 0.3, 300),
  'team, 0.3/s': one('team', 0.3, 600),
  'team, 0.5/s': one('team', 0.5, 600),
  'fleet, production': { ...fleet, conditions: 'production' },
  'mini-swe-agent, production': { ...recorded, conditions: 'production' },
  'mini-swe-agent, 3 gateways': { ...recorded, cluster: THREE },
  'mixed, 1.2/s, 3 gateways': { ...one('mixed', 1.2, 600), cluster: THREE },
  'team, 0.3/s, 3 gateways': { ...one('team', 0.3, 600), cluster: THREE },
};

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
  'own text in each prompt': { policy: 'plas', deception: 'described-families' },
  'nothing in common': { policy: 'plas', deception: 'unlike-families' },
  'fcfs-window': { policy: 'fcfs-window' },
  'las-decayed': { policy: 'las-decayed' },
  'pass-through': { policy: 'pass-through' },
  srpt: { policy: 'srpt' },
};

/** Prints what each step of the order is worth on the standing loads. Virtual time: the machine's speed is no matter. */
export async function benchOrder(isQuick: boolean): Promise<void> {
  const around = await surroundings(RECORDING_NAMES);
  const loads = Object.entries(ORDER_LOADS).filter(
    ([, { programs }]) => !('recording' in programs) || around.recordings[programs.recording] !== undefined,
  );
  const rows = loads.map(([name, scenario]) => {
    const seeds = isQuick ? [1] : [1, 2, 3];
    const count = isQuick ? Math.ceil(scenario.count / 10) : scenario.count;
    const runs = (setup: Setup) =>
      seeds.map((seed) => runCase({ scenario: { ...scenario, count }, setup }, seed, around, HOOKS));
    return [name, ...Object.values(STEPS).map((setup) => cellOf(runs(setup)))];
  });
  printTable(['load', ...Object.keys(STEPS)], rows);
  say(CELLS);
}

export const CELLS =
  'Means of the seeds: mean and p99 of programs in seconds, milliseconds a token, longest wait of a call in seconds.';

/** Figures of a cell: of programs that ended. */
const FIGURES: readonly ((run: RunMeasures) => number | null)[] = [
  (run) => run.program_seconds.mean,
  (run) => run.program_seconds.p99,
  (run) => (run.seconds_per_token.mean ?? NaN) * 1000,
  (run) => run.queue_seconds.max,
];

export function cellOf(runs: readonly RunMeasures[]): string {
  const means = FIGURES.map((figure) => runs.reduce((sum, run) => sum + (figure(run) ?? NaN), 0) / runs.length);
  return means.map((value) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })).join(' · ');
}

type Load = [name: string, scenario: Scenario, inputs: Surroundings];

/** Sessions that all start sub-agents; the standing recording has few. */
const SUB_AGENTS = '../shared/traces/weka-claude-code/traces_with_subagents_first6.jsonl.gz';
const weka: Omit<Scenario, 'ratePerSecond'> = { programs: { recording: 'weka' }, count: 80, engines: 2, machine: 'long-context' }; // prettier-ignore
const synthetic: Omit<Scenario, 'ratePerSecond'> = { programs: { workload: 'map-reduce' }, count: 200, engines: 2, machine: 'llama-3.1-8b-a100' }; // prettier-ignore
const JOINED = { policy: 'plas' } as const;
const SPLIT = { policy: 'plas', deception: 'split-sub-agents' } as const;

/** Prints what it is worth that sub-agents are recognised, instead of each being a program. Virtual time. */
export async function benchJoining(isQuick: boolean): Promise<void> {
  const around = await surroundings(['weka']);
  const own = await sessionsWithSubAgents(around);
  const at = (scenario: Omit<Scenario, 'ratePerSecond'>, rates: readonly number[]) =>
    rates.map((ratePerSecond): Scenario => ({ ...scenario, ratePerSecond }));
  const loads: Load[] = [
    ...at(weka, own ? [0.0003, 0.0005, 0.02] : []).map((one): Load => ['weka with sub-agents', one, own ?? around]),
    ...at(weka, around.recordings.weka ? [0.02] : []).map((one): Load => ['weka', one, around]),
    ...at(synthetic, [0.04, 0.06, 0.1]).map((one): Load => ['map-reduce', one, around]),
  ];
  const rows = loads.flatMap(([name, scenario, inputs]) => {
    const count = isQuick ? Math.ceil(scenario.count / 10) : scenario.count;
    return (isQuick ? [1] : [1, 2, 3]).map((seed) => {
      const of = (setup: Case['setup']) => runCase({ scenario: { ...scenario, count }, setup }, seed, inputs, HOOKS);
      const [split, joined] = [of(SPLIT), of(JOINED)];
      const cells = FIGURES.map((figure) => `${shown(figure(split))} -> ${shown(figure(joined))}`);
      return [`${name}, ${scenario.ratePerSecond}/s`, String(seed), ...cells];
    });
  });
  printTable(['load', 'seed', 'mean s', 'p99 s', 'ms a token', 'longest wait s'], rows);
  say('Each sub-agent a program -> joined to the program of its parent.');
}

async function sessionsWithSubAgents(around: Surroundings): Promise<Surroundings | undefined> {
  if (!existsSync(SUB_AGENTS)) return undefined;
  const read = await readRecording(new Command('bench'), SUB_AGENTS, { format: 'weka', kept: 'lengths' }, new Faults());
  return { ...around, recordings: { weka: [...withShortGaps(read.programs, 1000 * GAP_SECONDS_MAX)] } };
}

const shown = (value: number | null): string =>
  value === null ? '-' : value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
