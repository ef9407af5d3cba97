import { Command, InvalidArgumentError, Option } from 'commander';
import { POLICY_SENTENCES } from '../sidecar/config/index.js';
import { type PolicyName, POLICY_NAMES } from '../src/index.js';
import { DEFAULT_PRESET, PRESET_NAMES, type PresetName } from '../sim/index.js';

export interface DemoOptions {
  readonly policies: readonly PolicyName[];
  readonly balancer?: string;
  readonly config?: string;
  /** Absent: 30, or 24 on a real engine. */
  readonly programs?: number;
  readonly seeds: readonly number[];
  readonly synthetic: boolean;
  /** Absent: the usual folder; without it, synthetic programs. */
  readonly traces?: string;
  readonly engine: readonly string[];
  readonly engines: number;
  readonly preset: PresetName;
  readonly kvShare: number;
  readonly speed: number;
  /** Absent: 0.3, or 1 on a real engine, whose programs have short gaps. */
  readonly gapScale?: number;
  readonly gapMax: number;
  /** Live instead of simulated. */
  readonly full: boolean;
  readonly timeLimit: number;
  readonly json: boolean;
}

/** Wrong usage of the demo. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Options for stand-in engines only. */
const STAND_IN = ['engines', 'preset', 'speed', 'synthetic', 'traces'];

export function makeCommand(): Command {
  return new Command('demo')
    .description(
      'Compares policies by how long agent programs take: in virtual time, or with --full and on ' +
        'real engines live, through a gateway.',
    )
    .addOption(
      new Option('--policies <names>', 'policies, the first to compare each other one with')
        .argParser(policies)
        .default(['pass-through', 'fcfs-window', 'plas'], 'pass-through,fcfs-window,plas'),
    )
    .option('--balancer <name>', 'load-balancing policy; absent: the default')
    .option('--config <file>', 'gateway configuration to try; its times are scaled with the speed')
    .option('--programs <count>', 'programs, all at once (default: 30, on a real engine 24)', whole(1, 10_000))
    .addOption(
      new Option('--seeds <numbers>', 'seeds of synthetic programs; one run of each policy for each')
        .argParser(seeds)
        .default([1], '1'),
    )
    .option('--synthetic', 'synthetic programs, even where there are recorded ones', false)
    .addOption(
      new Option(
        '--traces <path>',
        'file or folder of recorded mini-swe-agent programs (.jsonl, .jsonl.gz); absent: ' +
          '../shared/traces, and synthetic programs where there is none',
      ).conflicts('synthetic'),
    )
    .addOption(
      new Option('-e, --engine <url>', 'real engine to run on instead of stand-ins, once for each')
        .argParser(collect)
        .default([], 'stand-ins')
        .conflicts(STAND_IN),
    )
    .option('--engines <count>', 'stand-in engines', whole(1, 64), 2)
    .addOption(new Option('--preset <name>', 'what they imitate').choices(PRESET_NAMES).default(DEFAULT_PRESET))
    .addOption(
      new Option('--kv-share <share>', 'part of all contexts at their largest that the KV caches hold')
        .argParser(real(0.01, 100))
        .default(1 / 3, 'a third'),
    )
    .option(
      '--speed <factor>',
      'times as fast as real; it warns when the machine does not keep up',
      real(0.1, 1000),
      20,
    )
    .option(
      '--gap-scale <factor>',
      'what tool times are multiplied by (default: 0.3, on a real engine 1)',
      real(0, 100),
    )
    .option('--gap-max <seconds>', 'longest tool time, before it is scaled', real(0, 86_400), 60)
    .option('--full', 'play all programs live: five minutes or more', false)
    .option('--time-limit <seconds>', 'longest time that the live run of one policy may take', real(1, 86_400), 900)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `\nPolicies:\n${Object.entries(POLICY_SENTENCES)
        .map(([name, sentence]) => `  ${name.padEnd(13)}${sentence}`)
        .join('\n')}`,
    )
    .exitOverride();
}

const policies = (text: string) => text.split(',').map((name) => policy(name.trim()));
const seeds = (text: string) => text.split(',').map(whole(0, 2 ** 31));

function collect(text: string, urls: readonly string[]): string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return [...urls, text.replace(/\/+$/, '').replace(/\/v1$/, '')];
  throw new InvalidArgumentError('It must be an http:// or https:// URL.');
}

function policy(name: string): PolicyName {
  const known = POLICY_NAMES.find((each) => each === name);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(`There is no policy '${name}'; there are ${POLICY_NAMES.join(', ')}.`);
}

function real(least: number, most: number) {
  return (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

function whole(least: number, most: number) {
  return (text: string): number => {
    const value = real(least, most)(text);
    if (Number.isInteger(value)) return value;
    throw new InvalidArgumentError('It must be a whole number.');
  };
}
