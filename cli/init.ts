import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { plain } from '../text/index.js';
import type { EngineConfig } from '../sidecar/config/index.js';
import { OWN_NAME } from './advice.js';
import { choice, collect, numberFrom } from './options.js';
import { checkWritable } from './files.js';
import { askEngines } from './init/answers.js';
import { documentOf } from './init/document.js';
import { check, make, ROLES, type Made, type Plan, type PlannedEngine, type Role } from './init/plan.js';
import { probe, probedText } from './init/probe.js';
import { complain } from './trace-file.js';

/** Stand-in engines of a configuration without engines. */
const EMBEDDED = 2;

interface InitFlags {
  readonly out: string;
  readonly force: boolean;
  readonly role: Role;
  readonly engine?: readonly string[];
  readonly embedded?: number;
  readonly engineKey?: string;
  readonly probe: boolean;
  readonly port: number;
  readonly adminToken?: string | true;
  readonly tenant?: readonly string[];
}

/** `maitred init`: a commented configuration from flags. On a terminal it asks for engines that no flag names. */
export function addInitCommand(program: Command, version: string): void {
  const init = program
    .command('init')
    .description('write a commented configuration; without --engine and --embedded, asks for the engines');
  init
    .option('-o, --out <file>', 'file to write, - is stdout', 'maitred.yaml')
    .option('--force', 'replace the file if it exists', false)
    .option('-e, --engine <url>', 'base URL of an engine replica; once for each', collect)
    .option('--embedded <count>', 'stand-in engines, to try it out', numberFrom(1, 64, 'a whole number'))
    .option('--engine-key <variable>', 'environment variable that holds the engines’ API key')
    .option('--no-probe', 'do not contact the engines')
    .addOption(
      choice('--role <role>', 'sidecar: serves this machine only; gateway: serves others too', ROLES).default(
        'sidecar',
      ),
    ) // prettier-ignore
    .option('-p, --port <port>', 'port to listen on', numberFrom(0, 65_535, 'a whole number'), 8080)
    .option('--admin-token [variable]', 'require an admin token: from this variable, or a generated one')
    .option('--tenant <name>', 'create an API key for this tenant; once for each', collect)
    .action((flags: InitFlags) => run(init, flags, version));
}

async function run(command: Command, flags: InitFlags, version: string): Promise<void> {
  const { out, force } = flags;
  const isFile = out !== '-';
  if (isFile && !force && existsSync(out)) command.error(`${out} exists; --force replaces it`);
  if (isFile) checkWritable(command, out);
  for (const variable of [flags.engineKey, flags.adminToken]) if (typeof variable === 'string') checkVariable(command, variable); // prettier-ignore
  const isTold = flags.engine !== undefined || flags.embedded !== undefined;
  const canAsk = process.stdin.isTTY && process.stderr.isTTY;
  if (!isTold && !canAsk) command.error('name the engines with --engine, or try it out with --embedded 2');
  const plan = isTold ? await planOf(flags) : await askEngines((engine) => planOf({ ...flags, engine }));
  const made = make(plan);
  const text = documentOf(made.values, headOf(out, version));
  if (isFile) write(command, out, text, force);
  else process.stdout.write(text);
  tellSecrets(made, isFile);
  if (isFile) process.stderr.write(`\nWrote ${out}.\n`);
  const silent = plan.engines.filter(({ isSilent }) => isSilent).map(({ url }) => url);
  if (silent.length > 0) complain(`no answer from ${silent.join(', ')}: start these engines, or correct their URLs`);
  for (const variable of variablesIn(text)) complain(`set ${variable} before you start it`);
  if (plan.role === 'gateway' && made.keys.length === 0) complain('without --tenant, everyone who reaches it may call it'); // prettier-ignore
  if (isFile) process.stderr.write(nextSteps(out, silent.length > 0));
}

/** The command that comes next; before it a check, if engines are silent so far. */
function nextSteps(file: string, afterCheck: boolean): string {
  const serve = `${OWN_NAME} serve --config ${file}`;
  return afterCheck ? `Next: ${OWN_NAME} doctor --config ${file}\nThen: ${serve}\n` : `Next: ${serve}\n`;
}

/** Asks each engine for its kind. @throws ConfigError for what is no engine */
async function planOf(flags: InitFlags): Promise<Plan> {
  const { role, port, adminToken, engine: urls = [], tenant: tenants = [] } = flags;
  const embedded = flags.embedded ?? (urls.length === 0 ? EMBEDDED : 0);
  const { engines } = check({ engines: urls.map((url) => ({ url })) });
  const planned = await Promise.all(engines.map((engine) => plannedEngine(engine, flags)));
  return { role, engines: planned, embedded, port, adminToken, tenants };
}

async function plannedEngine(
  { url, kind }: EngineConfig,
  { engineKey, probe: mayProbe }: InitFlags,
): Promise<PlannedEngine> {
  const apiKey = engineKey === undefined ? undefined : process.env[engineKey];
  const probed = mayProbe ? await probe({ url, kind, ...(apiKey !== undefined && { apiKey }) }) : undefined;
  if (probed !== undefined) process.stderr.write(`${plain(probedText(url, probed))}\n`);
  return {
    url,
    kind: probed !== undefined && 'kind' in probed ? probed.kind : kind,
    isSilent: probed !== undefined && 'reason' in probed,
    ...(engineKey !== undefined && { keyVariable: engineKey }),
  };
}

function headOf(out: string, version: string): string[] {
  const file = out === '-' ? 'FILE' : out;
  return [
    `Configuration of maitred, written by \`maitred init\` ${version}.`,
    `Check it: ${OWN_NAME} doctor --config ${file}`,
    `Start it: ${OWN_NAME} serve --config ${file}`,
  ];
}

/** Only for its owner, as it may hold the admin token. Whole or not at all, also on a full disk. */
function write(command: Command, file: string, text: string, force: boolean): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const next = `${target}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
    // A file that has come meanwhile stays.
    if (!force) closeSync(openSync(target, 'wx'));
    renameSync(next, target);
  } catch (error) {
    command.error(`${file} cannot be written: ${(error as Error).message}`);
  } finally {
    rmSync(next, { force: true });
  }
}

function tellSecrets({ keys, token }: Made, toStdout: boolean): void {
  const lines = [
    ...(keys.length > 0 ? ['API keys. Only their hashes are kept, so note them now:'] : []),
    ...keys.map(({ tenant, key }) => `  ${tenant}  ${key}`),
    ...(token === undefined ? [] : ['Admin token, also in the file:', `  ${token}`]),
  ];
  if (lines.length > 0) (toStdout ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
}

function checkVariable(command: Command, variable: string): void {
  if (!/^[a-z_]\w*$/i.test(variable)) command.error('--engine-key and --admin-token take the name of an environment variable, not the secret'); // prettier-ignore
  if (variable.startsWith('MAITRED_')) command.error(`${variable} would be read as a key of the configuration; choose another name`); // prettier-ignore
}

const variablesIn = (text: string): string[] => [...new Set([...text.matchAll(/^[^#\n]*: env:(\w+)$/gm)].map((match) => match[1] ?? ''))]; // prettier-ignore
