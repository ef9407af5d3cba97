import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Document, isPair, isScalar, isSeq, visit } from 'yaml';
import {
  CONFIG_KEYS,
  ConfigError,
  MAKE_TOKEN,
  TOKEN_CHARS_MIN,
  checkValue,
  configSchema,
  overridden,
  pathText,
  readEnvironment,
  servedSchema,
  type Config,
} from '../sidecar/config/index.js';
import { CORRECT_KEY, SET_KEY } from '../sidecar/admin/engine-words.js';
import { plain } from '../text/index.js';
import { OWN_NAME, addExamples } from './advice.js';
import { engineFindings } from './doctor/engines.js';
import { listenFindings } from './doctor/settings.js';
import { warnOfConfig } from './config.js';
import { NOT_ENGINE, warning, type Finding } from './doctor/finding.js';
import { LOOK_MS } from '../sidecar/engines/examine.js';
import { VERSION } from '../sidecar/version.js';
import { checkWritable } from './files.js';
import { choice, collect, wholeFrom } from './options.js';
import { wrapped } from './text.js';
import { complain } from './complain.js';

const ROLES = ['sidecar', 'gateway'] as const;
const COMMENT_WIDTH = 100;
/** The flag that sets each section. */
const ORIGINS: Readonly<Record<string, string>> = { listen: '--port', engines: '--engine', auth: '--tenant' };

interface InitFlags {
  readonly out: string;
  readonly role: (typeof ROLES)[number];
  readonly engine: readonly string[];
  readonly engineKey?: string;
  readonly port: number;
  readonly adminToken?: string | true;
  readonly tenant?: readonly string[];
}

export function addInitCommand(program: Command): void {
  const init = program.command('init').description('write a commented configuration');
  init
    .requiredOption('-e, --engine <url>', 'base URL of an engine replica; once for each', collect)
    .option('-o, --out <file>', 'new file to write, - is stdout', 'maitred.yaml')
    .option('--engine-key <variable>', 'environment variable that holds the engines’ API key')
    .addOption(choice('--role <role>', 'sidecar: for this machine only; gateway: others too', ROLES).default('sidecar'))
    .option('-p, --port <port>', 'port to listen on', wholeFrom(0, 65_535), 8080)
    .option('--admin-token [variable]', 'require an admin token: from this variable, or a generated one')
    .option('--tenant <name>', 'create an API key for this tenant; once for each', collect)
    .action((flags: InitFlags) => run(init, flags));
  addExamples(init, {
    'init --engine http://gpu-1:8000': 'maitred.yaml for clients on this machine',
    'init --engine http://gpu-1:8000 --role gateway --tenant team-a': 'for clients elsewhere, with a key for them',
    'init --engine http://gpu-1:8000 --engine-key ENGINE_KEY --out -': 'engines that need a key; print it',
  });
}

async function run(command: Command, flags: InitFlags): Promise<void> {
  const { out, role, engineKey, adminToken, tenant: tenants = [] } = flags;
  if (new Set(tenants).size < tenants.length) command.error('--tenant: give each name once, as each gets one key');
  for (const variable of [engineKey, adminToken]) if (typeof variable === 'string') checkVariable(command, variable);
  const made = make(flags);
  const isFile = out !== '-';
  const file = isFile ? out : 'FILE';
  if (isFile && existsSync(out)) command.error(`${out} exists: move it away, or name another one with --out`);
  if (isFile) checkWritable(command, out);
  const [check, start] = ['doctor', 'serve'].map((verb) => `${OWN_NAME} ${verb} --config ${file}`);
  const { found, doubts } = await lookAt(made.config, engineKey);
  // A gateway that answers there has been told already.
  checked(servedSchema, made.values);
  const text = `# Configuration of maitred, written by \`maitred init\` ${VERSION}.\n# Check it: ${check}\n# Start it: ${start}\n\n${commented(made.values)}`;
  if (isFile) write(command, out, text);
  else process.stdout.write(text);
  tellSecrets(made, isFile);
  if (isFile) process.stderr.write(`\nWrote ${out}.\n`);
  if (found.length > 0) process.stderr.write(plain(`${found.join('\n')}\n`));
  for (const warning of doubts) complain(warning);
  overridden(made.values, readEnvironment(process.env).overrides, () => out, process.env).forEach(warnOfConfig);
  if (role === 'gateway' && made.keys.length === 0) complain('without --tenant, everyone who reaches it may call it');
  const steps = [
    ...(typeof adminToken === 'string' && !process.env[adminToken]
      ? [`export ${adminToken}=$(${MAKE_TOKEN})    # or another, of at least ${TOKEN_CHARS_MIN} characters`]
      : []),
    ...(engineKey === undefined || process.env[engineKey] ? [] : [`export ${engineKey}=...    # the engines’ API key`]),
    check,
    start,
  ];
  process.stderr.write(`Next:\n${steps.map((step) => `  ${step}\n`).join('')}`);
}

/** The engines and their faults, in a line each; the file is right once they answer. @throws Error if one never can */
async function lookAt(config: Config, engineKey: string | undefined) {
  const apiKey = engineKey === undefined ? undefined : process.env[engineKey]?.trim();
  const isUnset = engineKey !== undefined && !apiKey;
  const engines = config.engines.map((engine) => ({ ...engine, apiKey }));
  const health = { ...config.health, timeoutMs: LOOK_MS };
  const places = await listenFindings(config, warning);
  const findings = [
    ...(isUnset ? [] : await engineFindings({ ...config, engines, health }, false)),
    ...places.map((each) => ({ ...each, level: 'warning' as const })),
  ];
  const refused = findings.find(({ advice }) => advice === NOT_ENGINE);
  if (refused !== undefined) throw new Error(`${refused.found}; nothing is written`);
  const remedies: Readonly<Record<string, string>> = {
    [SET_KEY]: `run init again with --engine-key VARIABLE, or ${SET_KEY}`,
    [CORRECT_KEY]: `correct ${engineKey}`,
  };
  const lines = (...levels: readonly Finding['level'][]) =>
    findings.flatMap(({ level, subject, found, advice }) => {
      const remedy = (advice && remedies[advice]) ?? advice;
      return levels.includes(level) ? [`${subject}: ${found}${remedy === undefined ? '' : ` (${remedy})`}`] : [];
    });
  const unasked = isUnset ? [`the engines were not asked, as ${engineKey} is not set here`] : [];
  return { found: lines('ok'), doubts: [...unasked, ...lines('broken', 'warning')] };
}

/** A file's values, and the secrets that are told once. @throws ConfigError */
function make({ role, engine, engineKey, port, adminToken, tenant: tenants = [] }: InitFlags) {
  const keys = tenants.map((tenant) => ({ tenant, key: secret() }));
  // Without a token, admin paths are open only on loopback without keys.
  const isNeeded = keys.length > 0 || role === 'gateway';
  const token = adminToken === true || (adminToken === undefined && isNeeded) ? secret() : undefined;
  const named = typeof adminToken === 'string' ? `env:${adminToken}` : token;
  const apiKey = engineKey === undefined ? {} : { apiKey: `env:${engineKey}` };
  const values = {
    listen: { host: role === 'sidecar' ? '127.0.0.1' : '0.0.0.0', port },
    ...(named !== undefined && { admin: { token: named } }),
    engines: engine.map((url) => ({ url, ...apiKey })),
    ...(keys.length > 0 && { auth: { keys: keys.map(({ tenant, key }) => ({ tenant, sha256: sha256(key) })) } }),
  };
  return { values, config: checked(configSchema, values), keys, token };
}

/** @throws ConfigError with all that the schema refuses */
function checked(schema: typeof configSchema, values: object): Config {
  // A token is generated, or a variable of any length.
  const { problems, data } = checkValue(schema, { ...values, admin: {} });
  if (data !== undefined) return data;
  throw new ConfigError(
    problems.map(({ path, message }) => ({ path: pathText(path), message, origin: ORIGINS[String(path[0])] })),
  );
}

/** YAML with the description of each key before it; of the elements of a list, the first has them. */
function commented(values: unknown): string {
  const descriptions = new Map(CONFIG_KEYS.map(({ path, note }) => [path, note.description]));
  const document = new Document(values);
  visit(document, {
    Pair(_, { key }, ancestors) {
      if (!isScalar(key)) return;
      const isLater = ancestors.some((node, at) => isSeq(node) && node.items.indexOf(ancestors[at + 1]) > 0);
      const above = ancestors.map((node) => (isPair(node) ? `.${String(node.key)}` : isSeq(node) ? '[]' : '')).join('');
      const description = descriptions.get(`${above}.${String(key)}`.slice(1));
      if (description === undefined || isLater) return;
      key.commentBefore = wrapped(description, COMMENT_WIDTH)
        .map((line) => ` ${line}`)
        .join('\n');
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Only for its owner, as it may hold the admin token. */
function write(command: Command, file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A full disk leaves a part of it.
    if (code !== 'EEXIST') rmSync(file, { force: true });
    command.error(`${file}: cannot be written: ${message}`);
  }
}

function tellSecrets({ keys, token }: ReturnType<typeof make>, toStdout: boolean): void {
  const lines = [
    ...(keys.length > 0 ? ['API keys. Only their hashes are kept, so note them now:'] : []),
    ...keys.map(({ tenant, key }) => `  ${tenant}  ${key}`),
    ...(token === undefined ? [] : ['Admin token, also in the file:', `  ${token}`]),
  ];
  if (lines.length > 0) (toStdout ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
}

function checkVariable(command: Command, variable: string): void {
  // A secret given by mistake must not appear in the file or a log.
  if (!process.env[variable] && !/^[A-Z_][A-Z\d_]*$/.test(variable))
    command.error(
      '--engine-key and --admin-token take the name of an environment variable, in capitals unless it is set, not the secret',
    );
  if (variable.startsWith('MAITRED_'))
    command.error(`${variable} would be read as a key of the configuration; choose another name`);
}

const secret = (): string => `mtd-${randomBytes(32).toString('base64url')}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
