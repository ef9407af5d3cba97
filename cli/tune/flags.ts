import type { Command } from 'commander';
import { duration } from '../duration.js';
import { seeds } from '../lists.js';
import { marginOption } from '../margin.js';
import { numberFrom } from '../number.js';
import { presetOption, type ChosenPreset } from '../preset.js';
import { addSourceOptions, type SourceFlags } from '../program-source.js';
import { conditionsOption, type ChosenConditions } from '../sim/conditions.js';
import { jobsOption, type SimFlags } from '../sim/flags.js';
import { readScheduling } from '../sim/scheduling.js';
import { objectives, type Objective } from './objective.js';

export interface TuneFlags extends SourceFlags {
  readonly engines?: number;
  readonly preset: ChosenPreset;
  readonly kvTokens?: number;
  readonly conditions: ChosenConditions;
  readonly config?: string;
  readonly slo: readonly Objective[];
  readonly settings: number;
  readonly time: number;
  readonly seed: number;
  readonly margin: number;
  readonly jobs: number;
  readonly json: boolean;
}

const EXAMPLES = `
Stdout is a YAML file: the report as comments, then the settings. Exit code 1: they missed an objective on the second half.

Examples:
  maitred tune --trace runs.jsonl.gz --engines 2 --slo 'ttft p99 < 5s' > tuned.yaml
  maitred tune --workload mixed --rate 0.8 --slo 'token mean < 60ms' --slo 'program p99 < 20m'
  maitred config --config tuned.yaml`;

export function addTuneOptions(command: Command): Command {
  return addSourceOptions(command)
    .optionsGroup('Engines:')
    .option('--engines <count>', 'engine replicas (default: those of --config, else 1)', whole(1, 4096))
    .addOption(presetOption('model and machine of each engine'))
    .option('--kv-tokens <tokens>', 'tokens in the KV cache of each engine; absent: the preset’s', whole(16, 1e8))
    .addOption(conditionsOption())
    .optionsGroup('Search:')
    .option('-c, --config <file>', 'the gateway’s YAML file: the present setting, which others must beat')
    .option('--slo <objective>', 'time to stay below, such as "ttft p99 < 5s"; once for each. METRIC: ttft, program, token, itl, queue', objectives, [])
    .option('--settings <count>', 'settings to try', whole(2, 200), 32)
    .option('--time <time>', 'longest time of the search, such as 5m; the check on the second half comes after it', duration, 300_000)
    .option('--seed <number>', 'random seed', (text) => seeds(text)[0] ?? 0, 0)
    .addOption(marginOption())
    .addOption(jobsOption())
    .option('--json', 'print one JSON document instead', false)
    .addHelpText('after', EXAMPLES); // prettier-ignore
}

/** The same as flags of `sim`: one value for each setting, which is the present one. */
export function simFlagsOf({ rate, concurrency, engines, preset, seed, ...others }: TuneFlags): SimFlags {
  // What there is to warn of is said by the reading of the plan.
  const { policy, balancer, admission } = readScheduling({ config: others.config }, () => undefined).config;
  return {
    ...others,
    rate: rate === undefined ? undefined : [rate],
    concurrency: concurrency === undefined ? undefined : [concurrency],
    ...(engines === undefined ? {} : { engines: [engines] }),
    preset: [preset],
    enginePriority: false,
    engineEviction: 'lru',
    announceEnds: false,
    policy: [policy.name],
    balancer: [balancer.name],
    window: [admission.window],
    gate: [admission.gate],
    seed: [seed],
  };
}

const whole = (least: number, most: number) => numberFrom(least, most, 'a whole number');
