import type { WorkloadName } from '../../workloads/index.js';
import type { Case, Machine, RecordingName, Scenario, Settings, Setup } from './case.js';
import type { Scale } from './experiment.js';

const MACHINE = 'llama-3.1-8b-a100';

export interface Load {
  readonly name: string;
  readonly scenario: Scenario;
  /** Settings of every setup, unless the setup has others. */
  readonly settings?: Settings;
}

export function caseOf({ scenario, settings }: Load, setup: Setup): Case {
  return {
    scenario,
    setup: settings === undefined ? setup : { ...setup, settings: { ...settings, ...setup.settings } },
  };
}

export const crossed = (loads: readonly Load[], setups: readonly Setup[]): Case[] =>
  loads.flatMap((load) => setups.map((setup) => caseOf(load, setup)));

export const rowsOf = (load: Load, setups: Readonly<Record<string, Setup>>) =>
  Object.entries(setups).map(([name, setup]) => [name, caseOf(load, setup)] as const);

/** Synthetic programs, on one engine unless told otherwise. */
export const synthetic =
  (workload: WorkloadName, count: number, ratePerSecond: number, others: Partial<Scenario> = {}) =>
  (scale: Scale): Load => ({
    name: workload,
    scenario: {
      programs: { workload },
      count: scale.programs(count),
      ratePerSecond,
      engines: 1,
      machine: MACHINE,
      ...others,
    },
  });

const SMALL_CACHES = { engines: 2, machine: 'qwen3-coder-30b-a3b' } as const;

/** People whose conversations come nearly as fast as one engine can serve them. */
export const chat = synthetic('chat', 1000, 4);
/** Agents with tools and short answers, nearly as many as one engine can serve. */
export const react = synthetic('react', 1000, 4);
/** Trees of parallel calls, more than one engine can serve. */
export const mcts = synthetic('mcts', 300, 0.5);
/** Coding agents whose contexts outgrow the caches. */
export const coding = synthetic('coding', 100, 0.1, SMALL_CACHES);
/** Short programs of three kinds, nearly twice as many as one engine serves. */
export const mixed = synthetic('mixed', 600, 0.8);

/** Ten tenants, more than two engines can serve: contexts fill the caches before steps grow slow. */
export const tenants = (scale: Scale, ratePerSecond: number): Load => ({
  ...synthetic('tenants', 400, ratePerSecond, { ...SMALL_CACHES, alone: true })(scale),
  name: `tenants, ${ratePerSecond} programs/s`,
});

/** The same load on an engine whose window prevents too many slow calls at once. */
export const mixedHeld = (scale: Scale): Load => ({
  ...mixed(scale),
  name: 'mixed, window 64',
  settings: { 'admission.window': 64 },
});

/** Four kinds of programs, coding agents among them, with contexts that nearly fill the caches. */
export const fleet = synthetic('fleet', 400, 0.9, { engines: 2 });

export const inProduction = (load: Load): Load => ({
  ...load,
  name: `${load.name} in production`,
  scenario: { ...load.scenario, conditions: 'production' },
});

/** Recorded agents whose contexts outgrow the caches several times over. */
const RECORDED: Readonly<Record<RecordingName, Omit<Scenario, 'engines' | 'programs'>>> = {
  'mini-swe-agent': { count: 250, ratePerSecond: 0.25, machine: MACHINE },
  agentcgroup: { count: 150, ratePerSecond: 0.05, machine: MACHINE },
  weka: { count: 80, ratePerSecond: 0.02, machine: 'long-context' },
};

/** Empty if the recording is missing. */
export function recorded(name: RecordingName, scale: Scale): Load[] {
  if (!scale.recordings.includes(name)) return [];
  const load = RECORDED[name];
  return [
    { name, scenario: { ...load, programs: { recording: name }, count: scale.programs(load.count), engines: 2 } },
  ];
}

/** Suffixes of presets: the default efficiency, then the bounds of what others measured. */
export const EFFICIENCIES = ['', ':low', ':high'] as const;
export type Efficiency = (typeof EFFICIENCIES)[number];

/** The scenario on a machine of that efficiency, if it has the default one. */
export const atEfficiency = (scenario: Scenario, efficiency: Efficiency): Scenario => ({
  ...scenario,
  machine: `${scenario.machine}${efficiency}` as Machine,
});
