import type { Command } from 'commander';
import { counted, plain } from '../text/index.js';
import {
  ConfigError,
  configFileOf,
  hasNoEngine,
  loadConfig,
  problemText,
  type Config,
  type ConfigProblem,
} from '../sidecar/config/index.js';
import { AdminClient, addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { OWN_NAME, addExamples } from './advice.js';
import { configInputs, type ConfigFlags } from './config.js';
import { engineFindings } from './doctor/engines.js';
import { broken, ok, warning, type Finding } from './doctor/finding.js';
import { gatewayFindings } from './doctor/gateway.js';
import { accessFindings, folderFindings, idleFindings, listenFindings, reachFindings } from './doctor/settings.js';
import { collect } from './options.js';
import { wrapped } from './text.js';

interface DoctorFlags extends Pick<ConfigFlags, 'config' | 'engine'>, Partial<AdminFlags> {
  readonly calls: boolean;
  readonly json?: true;
}

/** Columns of the report, and of the level before each finding. */
const COLUMNS = 80;
const LEVEL_COLUMNS = 9;

export function addDoctorCommand(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('find faults in settings, engines and a running gateway')
    .option('-c, --config <file>', 'the gateway’s configuration file')
    .option('-e, --engine <url>', 'base URL of an engine replica; once for each', collect)
    .option('--no-calls', 'send no calls to the engines: whether they answer, and some flags, stay unknown')
    .option('--json', 'print the findings as JSON');
  addAdminOptions(doctor).action(async (flags: DoctorFlags) => {
    const findings: Finding[] = [];
    const own = await addOwn(findings, flags);
    const { url } = flags;
    const token = own?.admin.token;
    if (url !== undefined) {
      const client =
        flags.token === undefined && token ? new AdminClient(url, token) : adminClient(doctor, { ...flags, url });
      findings.push(...(await gatewayFindings(client, findings, flags.engine === undefined ? own : undefined)));
    }
    const [faults, warnings] = ['broken', 'warning'].map(
      (level) => findings.filter((each) => each.level === level).length,
    );
    process.stdout.write(
      flags.json ? `${JSON.stringify({ version: 1, broken: faults, warnings, findings })}\n` : plain(textOf(findings)),
    );
    // Where a gateway runs already, another could not.
    const isStartable =
      faults === 0 &&
      flags.url === undefined &&
      !findings.some(({ subject }) => subject === 'listen' || subject === 'admin');
    const next = ['serve', '--config', flags.config, ...(flags.engine ?? []).flatMap((url) => ['--engine', url])];
    if (isStartable && !flags.json && flags.config !== undefined)
      process.stdout.write(plain(`\nNext: ${OWN_NAME} ${next.join(' ')}\n`));
    // The report has said why.
    if (faults !== 0) throw new Error('');
  });
  doctor.addHelpText(
    'after',
    '\nExit code: 1 when something is broken, 0 when nothing is, also with warnings,\n2 for a wrong command line.',
  );
  addExamples(doctor, {
    'doctor --config maitred.yaml': 'a file, and the engines in it',
    'doctor --engine http://gpu-1:8000': 'an engine alone',
    'doctor --url http://127.0.0.1:8080': 'a running gateway',
  });
}

/** Adds what concerns settings and engines. @returns the settings; of wrong ones, those of the admin paths. @throws ConfigError for a wrong flag */
async function addOwn(findings: Finding[], flags: DoctorFlags) {
  const { config: file, engine, url } = flags;
  const name = configFileOf({ file, env: process.env });
  try {
    const inputs = configInputs({ config: file, engine });
    // A gateway that is asked may be on another machine; defaults of this one do not concern it.
    if (url !== undefined && engine === undefined && name === undefined) return undefined;
    const warn = (each: ConfigProblem) => void findings.push(warning(each.origin ?? 'configuration', each.message));
    const config = loadConfig({ ...inputs, warn, isLook: true });
    findings.push(ok('configuration', name ?? 'valid; it comes from flags and variables, not from a file'));
    findings.push(...(await settingFindings(config, flags, name)));
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError) || error.problems.some(({ origin }) => origin?.startsWith('--'))) throw error;
    const alone = name === undefined ? '' : `; check the file alone: ${OWN_NAME} config --config ${name}`;
    const faults = error.problems.map(({ origin = '', path, message, excerpt }) => {
      // A file that cannot be read says what to do.
      const isTold = message.includes(OWN_NAME) || (path === '' && excerpt === undefined);
      const advice = isTold ? undefined : `docs/CONFIG.md lists the keys${alone}`;
      return { ...broken(problemText({ origin, path, message: '' }) || 'configuration', message, advice), excerpt };
    });
    findings.push(...faults);
    const { sound } = error;
    if (sound !== undefined) findings.push(...(await settingFindings(sound, flags, name, error.problems)));
    return sound && { admin: sound.admin };
  }
}

/** Findings of settings, but for those at fault, and of their ports, servers and engines. @param file the configuration file, if there is one */
async function settingFindings(
  config: Config,
  { url, calls }: DoctorFlags,
  file: string | undefined,
  faults: readonly ConfigProblem[] = [],
) {
  const isRight = (...sections: string[]) => !faults.some(({ path }) => sections.some((each) => path.startsWith(each)));
  return [
    ...(isRight('listen', 'admin', 'auth') ? accessFindings(config, file) : []),
    ...idleFindings(config),
    ...folderFindings(config),
    ...(await reachFindings(config)),
    // Without a file, only the engines may be meant.
    ...(url === undefined && isRight('listen')
      ? await listenFindings(config, file === undefined ? warning : broken)
      : []),
    // The engines of a gateway that is asked are its own; those of a wrong file may stand under a wrong key.
    ...(hasNoEngine(config) && (url !== undefined || faults.length > 0) ? [] : await engineFindings(config, calls)),
  ];
}

const LEVELS = ['broken', 'warning', 'note', 'ok'] as const;
const isNoun = (level: string) => level === 'warning' || level === 'note';

/** How many findings there are of each level; then each, the worst first, with what to do. */
function textOf(findings: readonly Finding[]): string {
  const indent = ' '.repeat(LEVEL_COLUMNS);
  const rows = LEVELS.flatMap((level) => folded(findings.filter((each) => each.level === level)));
  const sum = LEVELS.flatMap((level) => {
    const { length } = rows.filter((each) => each.level === level);
    return length === 0 ? [] : [isNoun(level) ? counted(length, level) : `${length} ${level}`];
  });
  const lines = rows.map(({ level, subject, found, advice, excerpt = [] }, at) => {
    // Several in a row with one remedy have it below the last.
    const next = rows[at + 1];
    const isShown = advice !== undefined && !(advice === next?.advice && level === next.level);
    const [told, remedy] = [`${subject}: ${found}`, isShown ? `-> ${advice}` : ''].map((text) =>
      wrapped(text, COLUMNS - LEVEL_COLUMNS),
    ) as [string[], string[]];
    return level.padEnd(LEVEL_COLUMNS) + [...told, ...excerpt, ...remedy].join(`\n${indent}`);
  });
  return `${sum.join(', ')}\n\n${lines.join('\n')}\n`;
}

/** Equal findings on several subjects, such as all engines, as one. */
function folded(findings: readonly Finding[]): Finding[] {
  const unlike = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.found, finding.advice, finding.excerpt]);
    const same = unlike.get(key);
    const subjects = new Set([...(same?.subject.split(', ') ?? []), finding.subject]);
    unlike.set(key, { ...finding, subject: [...subjects].join(', ') });
  }
  return [...unlike.values()];
}
