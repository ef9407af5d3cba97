import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { BALANCER_NAMES, type BalancerName } from '../../loadbalancer/index.js';
import type { FormatName } from '../../sim/index.js';
import { SIM_POLICIES, type SimPolicyName } from '../../sim/policies/policies.js';
import { WORKLOAD_NAMES } from '../../sim/workloads/workloads.js';
import { names, seeds } from '../lists.js';
import { numberFrom } from '../number.js';
import { presetOption, type ChosenPreset } from '../preset.js';
import { formatOption } from '../trace-file.js';
import type { SchedulingFlags } from './scheduling.js';

export interface SimFlags extends SchedulingFlags {
  readonly workload?: string;
  readonly trace?: string;
  readonly format?: FormatName;
  readonly rate?: number;
  readonly cv?: number;
  readonly concurrency?: number;
  readonly traceTimed?: true;
  readonly traceSpeed?: number;
  readonly programs?: number;
  readonly engines?: number;
  readonly preset: ChosenPreset;
  readonly kvTokens?: number;
  readonly enginePriority: boolean;
  readonly policy?: readonly SimPolicyName[];
  readonly balancer?: readonly BalancerName[];
  readonly seed?: readonly number[];
  readonly jobs: number;
  readonly json: boolean;
}

export function addSimOptions(command: Command): Command {
  return command
    .option('--workload <name>', `programs to make up: ${WORKLOAD_NAMES.join(', ')}, or a YAML file`)
    .addOption(new Option('--trace <file>', 'recorded programs, of any format that maitred reads').conflicts('workload'))
    .addOption(formatOption().conflicts('workload'))
    .option('--rate <number>', 'programs that arrive in a second, on average', numberFrom(1e-6, 1e6))
    .option('--cv <number>', 'how bursty they are: 0 is even, 1 Poisson (default: 1)', numberFrom(0, 10))
    .addOption(numeric('--concurrency <count>', 'programs at a time, instead: the next comes when one ends', 1, 1e6).conflicts(['rate', 'cv'])) // prettier-ignore
    .addOption(new Option('--trace-timed', 'they arrive when their trace says, instead').conflicts(['workload', 'rate', 'cv', 'concurrency'])) // prettier-ignore
    .option('--trace-speed <factor>', 'how much faster than it says (default: 1)', numberFrom(1e-6, 1e6))
    .addOption(numeric('--programs <count>', 'programs of a run (default: 300, or all of a trace)', 1, 1e8))
    .addOption(numeric('--engines <count>', 'engine replicas (default: those of --config, else 1)', 1, 4096))
    .addOption(presetOption('model and machine of each'))
    .addOption(numeric('--kv-tokens <tokens>', 'tokens the KV cache of each holds; absent: the preset’s', 16, 1e8))
    .option('--engine-priority', 'engines serve by the queue that a call came from, not in order of arrival', false)
    .addOption(names('--policy <names>', 'which call runs next; several with commas', SIM_POLICIES))
    .addOption(names('--balancer <names>', 'where a call runs; several with commas', BALANCER_NAMES))
    .option('--window <calls>', 'calls in flight per engine: a number, auto or adaptive (admission.window)')
    .option('--gate <share>', 'share of KV capacity that the working set may take, 0: no gate (admission.gate)')
    .option('--seed <numbers>', 'seeds of chance, several with commas: each is a run (default: 0)', seeds)
    .option('-c, --config <file>', 'the gateway’s YAML file: its scheduling is what is simulated')
    .addOption(jobsOption())
    .option('--json', 'print one JSON document instead of tables', false)
    .addHelpText('after', '\nEach policy with each balancer and seed is a run; the first policy is what others are compared with.'); // prettier-ignore
}

export const jobsOption = () =>
  numeric('--jobs <count>', 'runs at the same time', 1, 256).default(availableParallelism());

const numeric = (flags: string, description: string, least: number, most: number): Option =>
  new Option(flags, description).argParser(numberFrom(least, most, 'a whole number'));
