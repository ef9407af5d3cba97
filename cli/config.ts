import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { BALANCER_NAMES } from '../loadbalancer/index.js';
import { OWN_NAME, addExamples } from './advice.js';
import { explainChoices } from './choices-help.js';
import { complain } from './complain.js';
import {
  configFileOf,
  fileFault,
  hasNoEngine,
  loadConfig,
  LOG_LEVELS,
  problemText,
  redact,
  type ConfigInputs,
  type ConfigProblem,
} from '../sidecar/config/index.js';
import { POLICY_NAMES } from '../src/index.js';
import { collect } from './options.js';

export interface ConfigFlags {
  readonly config?: string | undefined;
  readonly engine?: readonly string[] | undefined;
  /** The others, by their attributes. */
  readonly [flag: string]: string | readonly string[] | undefined;
}

/** Flags over the file: the key that each sets, and words for the help; the schema refuses others. */
const FLAGS: readonly (readonly [path: string, flags: string, description: string, words?: readonly string[]])[] = [
  ['listen.host', '--host <host>', 'address to listen on'],
  ['listen.port', '-p, --port <port>', 'port to listen on, 0 picks a free one'],
  ['engines', '-e, --engine <url>', 'base URL of an engine replica; once for each'],
  ['embedded', '--embedded <count>', 'stand-in engines to start with the gateway'],
  ['policy.name', '--policy <name>', 'which call runs next', POLICY_NAMES],
  ['balancer.name', '--balancer <name>', 'where a call runs', BALANCER_NAMES],
  ['log.level', '--log-level <level>', 'lowest level to log', LOG_LEVELS],
];

const OPTIONS = FLAGS.map(([path, flags, description, words]) => {
  const option = new Option(flags, `${description} (${path})`);
  if (words !== undefined) option.choices(words).argParser((word) => word);
  if (path === 'engines') option.argParser(collect);
  return { path, option };
});

/** The options that `serve` and `config` share: the file, and flags over it. Their values are checked with the rest. */
export function addConfigOptions(command: Command): Command {
  command.option('-c, --config <file>', 'YAML file with any of the keys of docs/CONFIG.md');
  for (const { option } of OPTIONS) command.addOption(option);
  command.addHelpText(
    'after',
    '\nA variable can set every key too, such as MAITRED_LISTEN_PORT. Flags go first,\nthen variables, then the file.',
  );
  return explainChoices(command);
}

export const NO_ENGINE = `no engine is configured: name one with --engine, or run ${OWN_NAME} init --engine URL`;

export const warnOfConfig = (warning: ConfigProblem): void => complain(problemText(warning));

/** @throws ConfigError if the file is not there */
export function configInputs(given: ConfigFlags): ConfigInputs {
  const flags = OPTIONS.flatMap(({ path, option }) => {
    const text = given[option.attributeName()];
    return text === undefined ? [] : [{ path, origin: option.long ?? '', text }];
  });
  const inputs = { file: given.config, env: process.env, flags, warn: warnOfConfig };
  const name = configFileOf(inputs);
  if (name !== undefined && !existsSync(name))
    throw fileFault(name, `no such file; ${OWN_NAME} init --engine URL --out ${name} writes one`);
  return inputs;
}

export function addConfigCommand(program: Command): void {
  const command = addConfigOptions(
    program.command('config').description('check the configuration and print all settings in effect'),
  ).action((flags: ConfigFlags) => {
    const config = loadConfig(configInputs(flags));
    if (hasNoEngine(config)) complain(NO_ENGINE);
    process.stdout.write(stringify(redact(config)));
  });
  addExamples(command, {
    'config --config maitred.yaml': 'check a file',
    'config --engine http://gpu-1:8000 --port 9000': 'see what flags would set',
  });
}
