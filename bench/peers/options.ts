import { Command, Option } from 'commander';
import { duration, names, numberFrom, seeds } from '../../cli/options.js';
import { LOAD_NAMES, type LoadName } from './loads.js';
import { PEERS, TARGETS, type TargetName } from './run.js';

export interface PeerOptions {
  /** Absent: `vllm-router` on the PATH. */
  readonly router?: string;
  /** Absent: recordings in their usual place, or synthetic agents without any. */
  readonly traces?: string;
  readonly loads: readonly LoadName[];
  /** The first is what the others are compared with. */
  readonly targets: readonly TargetName[];
  /** Real engines to run on; empty: stand-ins. */
  readonly engine: readonly string[];
  readonly seeds: readonly number[];
  /** Speed-up over real time; absent: the highest that each load allows on two idle cores. */
  readonly speed?: number;
  /** Milliseconds that one run may take. */
  readonly timeLimit: number;
  readonly quick: boolean;
  readonly json: boolean;
}

export function makeCommand(): Command {
  return new Command('bench:peers')
    .description(
      'Compares maitred, live, with vLLM Router 0.1.17 and its program scheduling, and with its own policies.',
    )
    .addOption(
      names(
        '--targets <names>',
        'what to compare, the first with each other one (default: vllm-router,maitred,pass-through)',
        TARGETS,
      ),
    )
    .addOption(
      new Option(
        '--engine <url>',
        'real engine to run on instead of two stand-ins, once for each; they run at their own pace',
      )
        .argParser((url, urls: readonly string[]) => [...urls, url.replace(/(\/v1)?\/*$/, '')])
        .default([], 'stand-ins')
        .conflicts(['speed', 'quick']),
    )
    .option('--router <path>', 'the vllm-router command (default: the one on the PATH)')
    .option(
      '--traces <path>',
      'file of recorded agents, or folder with one such file (default: ../shared/traces/mini-swe-agent, and synthetic agents where it is missing)',
    )
    .addOption(
      names('--loads <names>', 'loads to run (default: agents,fleet,team,mixed; on real engines small)', LOAD_NAMES),
    )
    .addOption(new Option('--seeds <numbers>', 'one round of all runs for each').argParser(seeds))
    .option(
      '--speed <factor>',
      'times as fast as real (default: 20, mixed 6); less on a busy machine',
      numberFrom(1, 100),
    )
    .option('--time-limit <time>', 'longest time of one run', duration, 600_000)
    .addOption(new Option('--quick', 'one short load, whose figures are rough').default(false).conflicts('loads'))
    .option('--json', 'print JSON', false)
    .showHelpAfterError()
    .exitOverride();
}

/** @throws CommanderError, which has been reported already */
export function readOptions(argv: readonly string[]): PeerOptions {
  const given = makeCommand().parse(argv, { from: 'user' }).opts<Partial<PeerOptions>>();
  return {
    ...given,
    loads: given.loads ?? (given.engine?.length ? ['small'] : LOAD_NAMES.filter((name) => name !== 'small')),
    targets: given.targets ?? PEERS,
    seeds: given.seeds ?? [1],
  } as PeerOptions;
}
