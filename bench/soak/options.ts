import { Command, Option } from 'commander';
import { numberFrom } from '../../cli/options.js';

export interface SoakOptions {
  readonly minutes: number;
  /** Left out of all figures. */
  readonly warmUp: number;
  readonly streams: number;
  readonly engines: number;
  /** Tokens a second of one stream. */
  readonly rate: number;
  readonly seed: number;
  /** Seconds between two kills of engines. */
  readonly killEvery: number;
  readonly json?: string;
}

/** @throws CommanderError, which has been told already */
export function readOptions(argv: readonly string[]): SoakOptions {
  const command = new Command('soak')
    .description('Keeps a gateway under streams, faults, kills and reloads, and tells whether it stays as it was.')
    .option('--minutes <count>', 'how long the load lasts', numberFrom(0.2, 10_000), 60)
    .option('--warm-up <minutes>', 'left out of the figures (default: a fifth, at most 10)', numberFrom(0, 1000))
    .option('--streams <count>', 'streams at once', numberFrom(1, 20_000, 'a whole number'), 2000)
    .option('--engines <count>', 'stand-in engines', numberFrom(2, 16, 'a whole number'), 4)
    .option('--rate <tokens>', 'tokens a second of one stream', numberFrom(0.5, 50), 3)
    .option('--kill-every <seconds>', 'between two kills of engines', numberFrom(5, 3600), 150)
    .option('--seed <number>', 'of what agents and engines do', numberFrom(0, 1e9, 'a whole number'), 1)
    .addOption(new Option('--json <file>', 'writes every sample'))
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: 'user' });
  const given = command.opts<Omit<SoakOptions, 'warmUp'> & { readonly warmUp?: number }>();
  return { ...given, warmUp: given.warmUp ?? Math.min(10, given.minutes / 5) };
}
