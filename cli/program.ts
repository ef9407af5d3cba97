import { Command, CommanderError, Help } from 'commander';
import { ConfigError, didYouMean, problemText } from '../sidecar/config/index.js';
import { VERSION } from '../sidecar/version.js';
import { plain } from '../text/index.js';
import { OWN_NAME, addExamples, cannotListen } from './advice.js';
import { complain, ExpectedDifference, oneLine } from './complain.js';
import { guard } from './guard.js';
import { Interrupted } from './signals.js';

type Add = (program: Command) => void;

/** Under their headings in the help. Each is loaded on demand: together they take three times as long as the slowest. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, () => Promise<Add>>>>> = {
  'Run a gateway:': {
    init: async () => (await import('./init.js')).addInitCommand,
    doctor: async () => (await import('./doctor.js')).addDoctorCommand,
    serve: async () => (await import('./serve.js')).addServeCommand,
    config: async () => (await import('./config.js')).addConfigCommand,
  },
  'Look at a running gateway:': {
    top: async () => (await import('./top.js')).addTopCommand,
    why: async () => (await import('./why.js')).addWhyCommand,
    engines: async () => (await import('./engines.js')).addEnginesCommand,
    end: async () => (await import('./engines.js')).addEndCommand,
  },
  'Send calls:': {
    batch: async () => (await import('./batch.js')).addBatchCommand,
    load: async () => (await import('./load.js')).addLoadCommand,
  },
  'Simulate, record and replay:': {
    sim: async () => (await import('./sim.js')).addSimCommand,
    engine: async () => (await import('./engine.js')).addEngineCommand,
    trace: async () => (await import('./trace.js')).addTraceCommand,
    replay: async () => (await import('./replay.js')).addReplayCommand,
  },
};
const NAMES = Object.values(GROUPS).flatMap((commands) => Object.keys(commands));

/**
 * Runs one command line. Returns its exit code: 0 success, 1 failure, 2 wrong usage or configuration, 3 a replay that
 * differs as expected, 130 stopped early by a signal. Errors go to stderr, one a line.
 */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const word = (argv[2] === 'help' ? argv[3] : argv[2]) ?? '';
    const program = await createProgram(word);
    if (/^\w/.test(word) && !NAMES.includes(word) && word !== 'help')
      program.error(`unknown command '${word}'${didYouMean(word, NAMES) || `; ${OWN_NAME} --help lists all`}`);
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ConfigError) {
      for (const problem of error.problems) {
        complain(problemText(problem));
        for (const line of problem.excerpt ?? []) process.stderr.write(`  ${plain(line)}\n`);
      }
      return 2;
    }
    const text = error instanceof Error ? (listenText(argv[2], error) ?? error.message) : String(error);
    // A report may have told all.
    if (text !== '') complain(text);
    return error instanceof Interrupted ? 130 : error instanceof ExpectedDifference ? 3 : 1;
  }
}

function listenText(word: string | undefined, error: Error & Parameters<typeof cannotListen>[0]): string | undefined {
  if (word === 'engine') return cannotListen(error, (name) => `--${name}`)?.join(': ');
  return word === 'serve' ? cannotListen(error, (name) => `--${name} or admin.${name}`)?.join(': ') : undefined;
}

/** Without the value of an unknown option, and the user of a URL: they may be secrets. */
const withoutSecrets = (text: string): string =>
  text.replace(/^(unknown option '-[^=']*=)[^']*/, '$1…').replaceAll(/\/\/[^/@\s']*@/g, '//…@');

/** The program with the named sub-command, or with all of them for help and suggestions. */
async function createProgram(name: string): Promise<Command> {
  const program = new Command(OWN_NAME)
    .description('Schedules whole agent programs in front of LLM engines.')
    // Lets `sim calibrate` have options that `sim` has too.
    .enablePositionalOptions()
    .exitOverride()
    // A flag is off, and a list empty, unless it is given.
    .configureHelp({
      subcommandTerm: (each) =>
        [
          each.name(),
          ...each.registeredArguments.filter(({ required }) => required).map((word) => `<${word.name()}>`),
        ].join(' '),
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ \((?:default: (?:false|\[\])|preset: "-")\)/, ''),
    })
    .configureOutput({ outputError: (text, write) => write(oneLine(withoutSecrets(text.replace(/^error: /, '')))) });
  const isNamed = NAMES.includes(name);
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const [each, load] of Object.entries(commands)) if (!isNamed || each === name) (await load())(program);
  }
  program.helpCommand('help [command]', 'show the help of a command');
  if (!isNamed)
    addExamples(program, {
      'serve --embedded 2': 'try it without an engine: two stand-in engines',
      'init --engine http://gpu-1:8000': 'write maitred.yaml for engines of your own',
      'serve --config maitred.yaml': 'run it',
      'serve --help': 'options of a command, and examples',
    });
  for (const command of [program, ...program.commands]) command.version(VERSION, '-V, --version', 'print the version');
  guard(program);
  return program;
}
