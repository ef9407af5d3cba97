import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { BALANCER_NAMES, type BalancerName } from '../../loadbalancer/index.js';
import { SIM_POLICIES, type SimPolicyName } from '../../sim/index.js';
import { FORESIGHT_NAMES, RETENTION_NAMES, TENANTS_NAMES } from '../../src/index.js';
import { names, seeds } from '../lists.js';
import { marginOption } from '../margin.js';
import { numberFrom } from '../number.js';
import { presetOption, type ChosenPreset } from '../preset.js';
import { addSourceOptions, type SourceFlags } from '../program-source.js';
import { conditionsOption, type ChosenConditions } from './conditions.js';
import { BELADY, type SchedulingFlags } from './scheduling.js';

export interface SimFlags extends SourceFlags, SchedulingFlags {
  readonly engines?: number;
  readonly preset: ChosenPreset;
  readonly kvTokens?: number;
  readonly enginePriority: boolean;
  readonly conditions: ChosenConditions;
  readonly policy?: readonly SimPolicyName[];
  readonly balancer?: readonly BalancerName[];
  readonly seed?: readonly number[];
  readonly margin: number;
  readonly jobs: number;
  readonly json: boolean;
}

export function addSimOptions(command: Command): Command {
  return addSourceOptions(command)
    .option('--trace-speed <factor>', 'how much faster than it says (default: 1)', numberFrom(1e-6, 1e6))
    .optionsGroup('Engines:')
    .addOption(numeric('--engines <count>', 'engine replicas (default: those of --config, else 1)', 1, 4096))
    .addOption(presetOption('model and machine of each'))
    .addOption(numeric('--kv-tokens <tokens>', 'tokens the KV cache of each holds; absent: the preset’s', 16, 1e8))
    .option('--engine-priority', 'engines serve by the queue that a call came from, not in order of arrival', false)
    .addOption(conditionsOption())
    .optionsGroup('Scheduling:')
    .addOption(names('--policy <names>', 'which call runs next; several with commas', SIM_POLICIES))
    .addOption(names('--balancer <names>', 'where a call runs; several with commas', BALANCER_NAMES))
    .option('-c, --config <file>', 'the gateway’s YAML file: its scheduling is what is simulated')
    .option('--window <calls>', 'calls in flight per engine: a number, auto or adaptive (admission.window)')
    .addOption(new Option('--foresight <use>', 'knowledge of what programs will do (policy.foresight)').choices(FORESIGHT_NAMES))
    .addOption(new Option('--tenants <division>', 'division of engine time among tenants (policy.tenants)').choices(TENANTS_NAMES))
    .addOption(new Option('--retention <rule>', 'how idle contexts are held (admission.retention); belady: clairvoyant').choices([...RETENTION_NAMES, BELADY]))
    .option('--gate <share>', 'share of KV capacity that the working set may take, 0: no gate (admission.gate)')
    .optionsGroup('Runs and output:')
    .option('--seed <numbers>', 'seeds of chance, several with commas: each is a run (default: 0)', seeds)
    .addOption(marginOption())
    .addOption(jobsOption())
    .option('--json', 'print one JSON document instead of tables', false)
    .addHelpText('after', '\nEach policy with each balancer and seed is a run; the first policy is what others are compared with.\n\nExamples:\n  maitred sim --workload mixed --rate 0.5 --policy fcfs,plas --seed 1,2,3\n  maitred sim --trace runs.jsonl.gz --policy fcfs,plas --engines 2\n  maitred sim --config maitred.yaml --workload agents.yaml --rate 1'); // prettier-ignore
}

export const jobsOption = () =>
  numeric('--jobs <count>', 'runs at the same time', 1, 256).default(availableParallelism());

const numeric = (flags: string, description: string, least: number, most: number): Option =>
  new Option(flags, description).argParser(numberFrom(least, most, 'a whole number'));
