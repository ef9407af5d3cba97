import { Option, type Command } from 'commander';
import { BALANCER_NAMES } from '../loadbalancer/index.js';
import { explainChoices } from './choices-help.js';
import {
  LOG_LEVELS,
  problemText,
  type ConfigInputs,
  type ConfigProblem,
  type Override,
} from '../sidecar/config/index.js';
import { POLICY_NAMES } from '../src/index.js';
import { collect } from './options.js';

export interface ConfigFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly engine?: readonly string[];
  readonly embedded?: string;
  readonly policy?: string;
  readonly balancer?: string;
  readonly logLevel?: string;
}

/** The options that `serve` and `config` share: the file, and flags over it. Their values are checked with the rest. */
export function addConfigOptions(command: Command): Command {
  command
    .option('-c, --config <file>', 'YAML file with any of the keys of docs/CONFIG.md')
    .option('--host <host>', 'address to listen on (listen.host)')
    .option('-p, --port <port>', 'port to listen on, 0 picks a free one (listen.port)')
    .option('-e, --engine <url>', 'base URL of an engine replica; once for each (engines)', collect)
    .option('--embedded <count>', 'stand-in engines to start with the gateway (embedded)')
    .addOption(oneOf('--policy <name>', 'which call runs next (policy.name)', POLICY_NAMES))
    .addOption(oneOf('--balancer <name>', 'where a call runs (balancer.name)', BALANCER_NAMES))
    .addOption(oneOf('--log-level <level>', 'lowest level to log (log.level)', LOG_LEVELS))
    .addHelpText(
      'after',
      '\nEvery key can also be set by an environment variable, such as MAITRED_LISTEN_PORT. Flags take precedence.',
    );
  return explainChoices(command);
}

/** The words are for the help; the schema refuses others. */
const oneOf = (flags: string, description: string, words: readonly string[]): Option =>
  new Option(flags, description).choices(words).argParser((word) => word);

/** For people, so on stderr: stdout is the configuration, a table or a stream of log lines. */
export function warnOfConfig(warning: ConfigProblem): void {
  process.stderr.write(`maitred: ${problemText(warning)}\n`);
}

export function configInputs(flags: ConfigFlags): ConfigInputs {
  const given: [path: string, flag: string, text: string | readonly string[] | undefined][] = [
    ['listen.host', '--host', flags.host],
    ['listen.port', '--port', flags.port],
    ['engines', '--engine', flags.engine],
    ['embedded', '--embedded', flags.embedded],
    ['policy.name', '--policy', flags.policy],
    ['balancer.name', '--balancer', flags.balancer],
    ['log.level', '--log-level', flags.logLevel],
  ];
  const overrides = given.flatMap(([path, origin, text]): Override[] =>
    text === undefined ? [] : [{ path, origin, text }],
  );
  return { file: flags.config, env: process.env, flags: overrides, warn: warnOfConfig };
}
