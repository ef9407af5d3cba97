import type { BalancerOptions } from '../../loadbalancer/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import {
  CONDITIONS,
  hostOf,
  makeSimBalancer,
  makeSteps,
  type Preset,
  type PresetName,
  PRESETS,
  type WorldOptions,
} from '../../sim/index.js';
import { type AgentProgram, openWorkload, programs, recordedPrograms, Dice } from '../../workloads/index.js';
import { measureRun, type RunHooks, type RunMeasures } from '../measure/run.js';
import { DECEPTIONS, type Case, type Machine, type RecordingName, type Scenario, type Settings } from './case.js';

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
  const { policy, deception, belady, eviction } = setup;
  const preset = presetOf(scenario);
  const given = programsOf(scenario, around, seed);
  const told: Partial<WorldOptions> = deception === undefined ? {} : DECEPTIONS[deception](seed);
  return measureRun(
    {
      programs: scenario.toolCv === undefined ? given : withToolSpread(given, scenario.toolCv, seed),
      maxPrograms: scenario.count,
      arrivals: { type: 'open', ratePerSecond: scenario.ratePerSecond, cv: 1 },
      seed,
      engines: scenario.engines,
      engine: {
        preset,
        host: hostOf(preset, { hostTokens: scenario.hostTokens, hostWrites: 'computed' }),
        blockSize: BLOCK_TOKENS,
        ...(eviction && { eviction }),
      },
      ...(scenario.cluster && { cluster: scenario.cluster }),
      scheduler: (prefixOf) =>
        makeSteps(policy, config, makeSimBalancer(balancer, prefixOf), { isBelady: belady === true }),
      alone: scenario.alone === true,
      ...told,
      conditions: { ...CONDITIONS[scenario.conditions ?? 'none'], ...told.conditions },
    },
    hooks,
  );
}

function programsOf(
  { programs: source }: Scenario,
  { recordings }: Surroundings,
  seed: number,
): Iterable<AgentProgram> {
  if ('workload' in source) return programs(openWorkload(source.workload), seed);
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

function presetOf({ machine, kvTokens }: Scenario): Preset {
  const preset = machineOf(machine);
  return kvTokens === undefined ? preset : { ...preset, kvTokens };
}

function machineOf(machine: Machine): Preset {
  if (isPreset(machine)) return PRESETS[machine];
  const own = machine.replace('long-context', 'llama-3.1-8b-a100') as PresetName;
  return { ...PRESETS[own], maxModelLen: 262_144 };
}

/** Mean time of a tool in SAGA's experiment. */
const MEAN_MS = 1200;

/**
 * The same programs with tools of another spread: log-normal, and 1.2 s in the mean (SAGA, 9.10).
 * @param cv coefficient of variation, above 0
 */
export function* withToolSpread(programs: Iterable<AgentProgram>, cv: number, seed: number): Generator<AgentProgram> {
  const sigma = Math.sqrt(Math.log(1 + cv * cv));
  const median = MEAN_MS * Math.exp((-sigma * sigma) / 2);
  const p95 = median * Math.exp(1.645 * sigma);
  let index = 0;
  for (const program of programs) {
    const dice = Dice.of(seed, index++);
    const calls = program.calls.map((call) =>
      call.after.length === 0 ? call : { ...call, gapMs: dice.logNormal(median, p95) },
    );
    yield { ...program, calls };
  }
}
