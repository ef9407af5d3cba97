import { InvalidArgumentError, type Command } from 'commander';
import { pino } from 'pino';
import { type EngineOptions, FAULTS, parseFault, rangeOf, readOptions, startEngine } from '../sim/index.js';
import { rows } from './choices-help.js';
import { collect, numberFrom } from './options.js';
import { hostWritesOption, presetOption, type ChosenPreset } from './preset.js';
import { untilStopped } from './signals.js';

const DEFAULTS = readOptions({});

const OF_PRESET = [
  ['--slots <count>', 'most requests at a time', 'slots'],
  ['--kv-tokens <tokens>', 'tokens the KV cache holds', 'kvTokens'],
  ['--batch-tokens <tokens>', 'tokens a step may compute', 'batchTokens'],
  ['--max-model-len <tokens>', 'longest prompt and answer together', 'maxModelLen'],
] as const;
const OWN = [
  ['--speed <factor>', 'speed relative to the imitated machine', 'speed'],
  ['--block-size <tokens>', 'tokens of a KV block', 'blockSize'],
  ['--max-queued <count>', 'most waiting requests; beyond them it answers 503', 'maxQueued'],
  ['--seed <number>', 'varies the text and length of answers', 'seed'],
] as const;

export function addEngineCommand(program: Command): void {
  const command = program.command('engine').description('serve a stand-in for a vLLM-like engine');
  for (const [flags, description, name] of OF_PRESET)
    command.option(flags, `${description}; absent: the preset’s`, inRange(name));
  for (const [flags, description, name] of OWN) command.option(flags, description, inRange(name), DEFAULTS[name]);
  command
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <port>', 'port to listen on, 0 picks a free one', inRange('port'), 8000)
    .addOption(presetOption('model and machine to imitate'))
    .option('--host-tokens <tokens>', 'tokens that host memory keeps of what leaves the cache', inRange('hostTokens'))
    .addOption(hostWritesOption())
    .option('--model <name>', 'name of the model it serves; may be repeated; absent: the preset’s', collect)
    .option('--fault <fault>', 'fault of its first call, then of the next, of those below; may be repeated', fault)
    .addHelpText(
      'after',
      () => `\nFaults, alone or several with ; such as 'status=503;retry-after=2':\n${rows(command, FAULTS)}`,
    )
    .action(async ({ preset, model: models, fault: faults, ...rest }: EngineFlags) => {
      const options = { ...rest, preset: preset.preset, ...(models && { models }), ...(faults && { faults }) };
      const engine = await startEngine(options).catch((error: unknown) => {
        // The engine's error about options that do not fit each other is wrong usage here, of flags.
        if (error instanceof TypeError)
          return command.error(error.message.replaceAll(/\b(kv|max|host)[A-Z]\w+/g, flagOf));
        throw error;
      });
      pino().info({ url: engine.url }, 'listening');
      await untilStopped({ stop: () => engine.close() });
    });
}

type EngineFlags = Omit<EngineOptions, 'preset' | 'models' | 'faults'> & {
  readonly preset: ChosenPreset;
  readonly model?: string[];
  readonly fault?: string[];
};

function inRange(name: Parameters<typeof rangeOf>[0]) {
  const { least, most, isWhole } = rangeOf(name);
  return numberFrom(least, most, isWhole ? 'a whole number' : 'a number');
}

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Checked here, so that the message names the option and the known faults. */
function fault(text: string, faults: readonly string[] = []): string[] {
  try {
    parseFault(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return [...faults, text];
}
