import { createRequire } from 'node:module';
import { Command, CommanderError, Help } from 'commander';
import { ConfigError, didYouMean, problemText } from '../sidecar/config/index.js';
import { plain } from '../text/index.js';
import { OWN_NAME, urlAt } from './advice.js';
import { ExpectedDifference } from './expected-difference.js';
import { Interrupted } from './signals.js';

/** In the order of the help. Each is loaded on demand: together they take three times as long as the slowest. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command, version: string) => void>>> = {
  serve: async () => (await import('./serve.js')).addServeCommand,
  engine: async () => (await import('./engine.js')).addEngineCommand,
  config: async () => (await import('./config.js')).addConfigCommand,
  trace: async () => (await import('./trace.js')).addTraceCommand,
  batch: async () => (await import('./batch.js')).addBatchCommand,
  sim: async () => (await import('./sim.js')).addSimCommand,
  load: async () => (await import('./load.js')).addLoadCommand,
  replay: async () => (await import('./replay.js')).addReplayCommand,
  why: async () => (await import('./why.js')).addWhyCommand,
  engines: async () => (await import('./engines.js')).addEnginesCommand,
  end: async () => (await import('./engines.js')).addEndCommand,
  doctor: async () => (await import('./doctor.js')).addDoctorCommand,
  init: async () => (await import('./init.js')).addInitCommand,
  top: async () => (await import('./top.js')).addTopCommand,
};

/**
 * Runs one command line. Returns its exit code: 0 success, 1 failure, 2 wrong usage or configuration, 3 a replay that
 * differs as expected, 130 stopped early by a signal. Errors go to stderr, one a line.
 */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const word = (argv[2] === 'help' ? argv[3] : argv[2]) ?? '';
    const program = await createProgram(word);
    if (/^\w/.test(word) && !Object.hasOwn(COMMANDS, word) && word !== 'help')
      program.error(
        `unknown command '${word}'${didYouMean(word, Object.keys(COMMANDS)) || '; maitred --help lists all'}`,
      );
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
    const text = error instanceof Error ? (takenPort(argv[2] ?? '', error) ?? error.message) : String(error);
    // A report may have told all.
    if (text !== '') complain(text);
    return error instanceof Interrupted ? 130 : error instanceof ExpectedDifference ? 3 : 1;
  }
}

function takenPort(
  word: string,
  { code, address = '', port = 0 }: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number },
): string | undefined {
  if (code !== 'EADDRINUSE') return undefined;
  const taken = `port ${port} of ${address} is taken: choose another one`;
  if (word === 'engine') return `${taken} (--port)`;
  return `${taken} (--port or admin.port), or see with ${OWN_NAME} top --url ${urlAt(address, port)} whether a gateway runs there`;
}

/** The program with the named sub-command, or with all of them for help and suggestions. */
async function createProgram(name: string): Promise<Command> {
  const { version } = createRequire(import.meta.url)('maitred/package.json') as { readonly version: string };
  const program = new Command('maitred')
    .description('Schedules whole agent programs in front of LLM engines.')
    // Lets `sim calibrate` have options that `sim` has too.
    .enablePositionalOptions()
    .exitOverride()
    // A flag is off, and a list empty, unless it is given.
    .configureHelp({
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ \((?:default: (?:false|\[\])|preset: "-")\)/, ''),
    }) // prettier-ignore
    .configureOutput({ outputError: (text, write) => write(oneLine(text.replace(/^error: /, ''))) });
  const named = Object.entries(COMMANDS).filter(([each]) => each === name);
  for (const [, load] of named.length > 0 ? named : Object.entries(COMMANDS)) (await load())(program, version);
  for (const command of [program, ...program.commands]) command.version(version, '-V, --version', 'print the version');
  return program;
}

const complain = (text: string) => process.stderr.write(oneLine(text));
const oneLine = (text: string) => `maitred: ${plain(text.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`;
