import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { readRecording } from '../../cli/recording.js';
import { Faults } from '../../cli/trace-file.js';
import { GAP_SECONDS_MAX, runCase, type Case, type Surroundings } from '../../lab/index.js';
import { withShortGaps } from '../../workloads/index.js';
import { printTable, say } from '../numbers.js';
import { HOOKS, surroundings } from './around.js';
import { FIGURES } from './order.js';

type Scenario = Case['scenario'];
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
