import { Command, CommanderError, Option } from 'commander';
import { names, numberFrom } from '../../cli/options.js';
import { seeds } from '../../cli/sim/lists.js';
import { sayDisturbance } from '../disturbance.js';
import { printTable, say } from '../numbers.js';
import { LOAD_NAMES, LOADS, type Load, type LoadName } from './loads.js';
import { brief, HEADINGS, rowsOf } from './report.js';
import { findRouter, SKIPPED } from './router.js';
import { PEERS, run, TARGETS, type Run, type RunChoice, type TargetName } from './run.js';

interface Options {
  /** Absent: `vllm-router` on the PATH. */
  readonly router?: string;
  readonly loads: readonly LoadName[];
  /** The first is what the others are compared with. */
  readonly targets: readonly TargetName[];
  /** Real engines to run on; empty: stand-ins. */
  readonly engine: readonly string[];
  readonly seeds: readonly number[];
  readonly speed?: number;
}

/** @throws CommanderError, which has been reported already */
export function readOptions(argv: readonly string[]): Options {
  const given = new Command('bench:peers')
    .description('Compares maitred, live, with vLLM Router 0.1.17 and its program scheduling.')
    .addOption(
      names('--targets <names>', `what to compare, the first with each other one (default: ${PEERS.join()})`, TARGETS),
    )
    .addOption(
      new Option('--engine <url>', 'real engine to run on instead of two stand-ins, once for each; at its own pace')
        .argParser((url, urls: readonly string[]) => [...urls, url.replace(/(\/v1)?\/*$/, '')])
        .default([], 'stand-ins')
        .conflicts('speed'),
    )
    .option('--router <path>', 'the vllm-router command (default: the one on the PATH)')
    .addOption(
      names('--loads <names>', 'loads to run (default: agents,fleet,mixed; on real engines small)', LOAD_NAMES),
    )
    .addOption(new Option('--seeds <numbers>', 'one round of all runs for each').argParser(seeds))
    .option(
      '--speed <factor>',
      'times as fast as real (default: 20, mixed 6); less on a busy machine',
      numberFrom(1, 100),
    )
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: 'user' })
    .opts<Partial<Options>>();
  const loads = given.engine?.length ? (['small'] as const) : LOAD_NAMES.filter((name) => name !== 'small');
  return { loads, targets: PEERS, seeds: [1], ...given } as Options;
}

const complain = (text: string) => process.stderr.write(`bench:peers: ${text}\n`);

/** Runs one command line. Returns its exit code: 0 when all runs gave figures or the peer is missing, 2 for wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  let options: Options, router: string | undefined;
  try {
    options = readOptions(argv);
    router = findRouter(options.router, process.env['PATH'] ?? '');
  } catch (error) {
    // Commander has already reported the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(error instanceof Error ? error.message : String(error));
    return 2;
  }
  if (router !== undefined || !options.targets.includes('vllm-router')) return compare(options, router);
  say(SKIPPED);
  return 0;
}

async function compare(options: Options, router: string | undefined): Promise<number> {
  const runs: Run[] = [];
  let failures = 0;
  for (const choice of plan(options, router)) {
    const title = `${choice.load.title}, ${choice.target}, seed ${choice.seed}`;
    complain(title);
    try {
      const result = await run(choice);
      for (const warning of result.warnings) complain(`${title}: ${warning}`);
      for (const [name, example] of Object.entries(result.errors)) complain(`${title}: ${name}: ${example}`);
      complain(`${title}: ${brief(result)}`);
      // A real engine's own work counts as others'.
      if (options.engine.length === 0) complain(sayDisturbance(result.disturbance));
      runs.push(result);
    } catch (error) {
      failures += 1;
      complain(`${title}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const { title, speed } of loadsOf(options)) {
    say(`\n${title}; model time, ${speed} times as fast as real\n`);
    printTable(
      HEADINGS,
      rowsOf(
        runs.filter(({ load }) => load === title),
        options.targets,
      ),
    );
  }
  return failures === 0 ? 0 : 1;
}

const loadsOf = ({ loads, engine, speed = engine.length > 0 ? 1 : undefined }: Options): Load[] =>
  loads.map((name) => ({ ...LOADS[name], ...(speed !== undefined && { speed }) }));

/** Targets take turns, in reverse order every second time, so that drift does not favour one of them. */
export function plan(options: Options, router: string | undefined): RunChoice[] {
  const { seeds: numbers, targets, engine } = options;
  return numbers.flatMap((seed, round) =>
    loadsOf(options).flatMap((load, index) => {
      const order = (round + index) % 2 === 0 ? targets : targets.toReversed();
      return order.map((target) => ({ load, target, seed, router, engine }));
    }),
  );
}
