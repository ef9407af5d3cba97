import { InvalidArgumentError, Option, type Command } from 'commander';
import { API_NAMES, IDENTITY_NAMES, RUNS, SHORT_MS, type LoadOptions } from '../../loadtest/index.js';
import { addExamples } from '../advice.js';
import { choice, collect, duration, numberFrom, wholeFrom } from '../options.js';
import { SEED_MAX } from '../sim/lists.js';
import { addSourceOptions, marginOption, type SourceFlags } from '../sim/source.js';

type Calls = 'api' | 'stream' | 'identity' | 'model' | 'seed' | 'ignoreEos' | 'recordedAnswers' | 'connections';

export interface LoadFlags extends SourceFlags<readonly number[]>, Pick<LoadOptions, Calls> {
  readonly target: readonly string[];
  readonly duration?: number;
  readonly repeat?: number;
  readonly margin: number;
  readonly speed: number;
  readonly key?: string;
  readonly timeout: number;
  readonly baseline: boolean;
  readonly slo: readonly string[];
  readonly json?: string;
  readonly quiet: boolean;
  readonly iOwnThisTarget: boolean;
}

const factor = numberFrom(1e-3, 1e6);
const TARGETS_MAX = 2;

export function addLoadOptions(command: Command): Command {
  command.requiredOption('--target <url>', 'engine or gateway; a second one is compared with the first', target);
  addSourceOptions(command, { otherwise: ', or those that arrive within --duration' })
    .option('--duration <time>', 'start no program later than this, such as 90s or 5m', duration)
    .option(
      '--repeat <count>',
      `runs, with seeds from --seed on (default: 1; ${RUNS} of two targets, if the first run takes at most ${SHORT_MS / 1000} s)`,
      wholeFrom(1, 100),
    )
    .addOption(marginOption())
    .option(
      '--speed <factor>',
      'times as fast as real, as maitred engine --speed: --rate, --duration, --slo and all figures are those at real speed',
      factor,
      1,
    )
    .optionsGroup('Calls:')
    .addOption(choice('--api <name>', 'API to call', API_NAMES).default('chat'))
    .option('--no-stream', 'request answers without streaming')
    .addOption(
      choice('--identity <name>', 'headers and fields that identify the program', IDENTITY_NAMES).default('none'),
    )
    .option('--model <name>', 'name of the model (default: the first that the target lists)')
    .option('--key <variable>', 'environment variable that holds the API key')
    .option('--seed <number>', 'seed of all randomness', wholeFrom(0, SEED_MAX), 0)
    .option('--no-ignore-eos', 'let the model end its answers early')
    .option('--recorded-answers', 'continue from the recorded answers instead of the target’s', false)
    .addOption(
      new Option('--timeout <time>', 'longest time of a call, from sending to its end')
        .argParser(duration)
        .default(600_000, '10m'),
    )
    .option('--connections <count>', 'calls in flight per target', wholeFrom(1, 100_000), 4096)
    .optionsGroup('Measures and output:')
    .option('--no-baseline', 'measure no single calls: slowdowns, and whether a target keeps up, are then unknown')
    .option(
      '--slo <expression>',
      'exit 1 if it is missed (of several loads: at each), such as "program_seconds.p99 < 60" or "ttft_seconds.p95 < 2"; repeatable',
      collect,
      [],
    )
    .addOption(
      new Option(
        '--json [file]',
        'write all figures as JSON, to stdout if there is no file; the summary then goes to stderr',
      ).preset('-'),
    )
    .option('--quiet', 'no progress', false)
    .option('--i-own-this-target', 'allow a target that is not on a private network', false)
    .addHelpText(
      'after',
      '\nWithout --rate and --concurrency, programs arrive at the times of their trace.\nTimes are such as 500ms, 90s, 5m or 1h; a number alone is seconds.',
    );
  return addExamples(command, {
    'load --target http://127.0.0.1:8000 --workload react --rate 1 --programs 80': 'measure one engine or gateway',
    'load --target URL --target URL --workload react --concurrency 8 --programs 80': 'compare two',
    'load --target URL --target URL --workload react --rate 0.5..2 --programs 80': 'from which rate on B is faster',
    "load --target URL --trace programs.jsonl --slo 'program_seconds.p99 < 60'": 'recorded programs, and a condition',
    'load compare before.json after.json': 'compare two --json documents',
  });
}

function target(text: string, before: readonly string[] = []): readonly string[] {
  if (before.length === TARGETS_MAX) throw new InvalidArgumentError('Two targets can be compared, not more.');
  return [...before, text];
}
