import type { BalancerOptions } from '../../loadbalancer/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import {
  CONDITIONS,
  conditionsSchema,
  makeSimBalancer,
  makeSteps,
  type Preset,
  type PresetName,
  PRESETS,
} from '../../sim/index.js';
import { type AgentProgram, programs, recordedPrograms, WORKLOADS } from '../../workloads/index.js';
import { measureRun, type RunHooks, type RunMeasures } from '../measure/run.js';
import { type Case, type Machine, type RecordingName, type Scenario, type Settings } from './case.js';

export type Config = SchedulerConfig & { readonly balancer: BalancerOptions };

/** Inputs common to all cases: plain data, so that a thread can receive it. */
export interface Surroundings {
  /** The gateway's defaults, which `Setup.settings` change. */
  readonly config: Config;
  /** The available recordings, in the order of their files. */
  readonly recordings: Readonly<Partial<Record<RecordingName, readonly AgentProgram[]>>>;
}

const BLOCK_TOKENS = 16;

export function runCase({ scenario, setup }: Case, seed: number, around: Surroundings, hooks: RunHooks): RunMeasures {
  const config = configOf(around.config, setup.settings);
  const balancer = { ...config.balancer, name: setup.balancer ?? config.balancer.name };
  const { policy, declarations } = setup;
  return measureRun(
    {
      programs: programsOf(scenario, around, seed),
      maxPrograms: scenario.count,
      arrivals: { type: 'open', ratePerSecond: scenario.ratePerSecond, cv: 1 },
      seed,
      engines: scenario.engines,
      engine: {
        preset: presetOf(scenario.machine),
        blockSize: BLOCK_TOKENS,
      },
      ...(scenario.cluster && { cluster: scenario.cluster }),
      scheduler: (prefixOf) => makeSteps(policy, config, makeSimBalancer(balancer, prefixOf)),
      alone: scenario.alone === true,
      conditions: {
        ...CONDITIONS[scenario.conditions ?? 'none'],
        ...(declarations && conditionsSchema.parse({ declarations })),
      },
    },
    hooks,
  );
}

function programsOf(
  { programs: source }: Scenario,
  { recordings }: Surroundings,
  seed: number,
): Iterable<AgentProgram> {
  if ('workload' in source) return programs(WORKLOADS[source.workload], seed);
  const recorded = recordings[source.recording];
  if (recorded === undefined) throw new RangeError(`there is no recording ${source.recording}`);
  return recordedPrograms(recorded, seed);
}

/** @throws RangeError for an unknown key: otherwise a typing error would measure the defaults once more */
export function configOf(defaults: Config, settings: Settings = {}): Config {
  const config = structuredClone(defaults) as unknown as Record<string, Record<string, unknown>>;
  for (const [path, value] of Object.entries(settings)) {
    const [section = '', key = ''] = path.split('.');
    const inside = config[section];
    if (inside?.[key] === undefined) throw new RangeError(`there is no setting ${path}`);
    inside[key] = value;
  }
  return config as unknown as Config;
}

const isPreset = (machine: Machine): machine is PresetName => machine in PRESETS;

function presetOf(machine: Machine): Preset {
  if (isPreset(machine)) return PRESETS[machine];
  const own = machine.replace('long-context', 'llama-3.1-8b-a100') as PresetName;
  return { ...PRESETS[own], maxModelLen: 262_144 };
}
