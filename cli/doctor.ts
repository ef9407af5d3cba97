import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { counted, plain } from '../text/index.js';
import { ConfigError, configFileOf, hasNoEngine, loadConfig, problemText } from '../sidecar/config/index.js';
import { addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { OWN_NAME } from './advice.js';
import { configInputs, type ConfigFlags } from './config.js';
import { engineFindings } from './doctor/engines.js';
import type { Finding } from './doctor/finding.js';
import { gatewayFindings } from './doctor/gateway.js';
import { accessFindings } from './doctor/settings.js';
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
    .option('--no-calls', 'send no calls to the engines; some of their flags then stay unknown')
    .option('--json', 'print the findings as JSON');
  addAdminOptions(doctor).action(async (flags: DoctorFlags) => {
    const findings = await ownFindings(flags);
    if (flags.url !== undefined)
      findings.push(...(await gatewayFindings(adminClient(doctor, { ...flags, url: flags.url }))));
    const broken = findings.filter(({ level }) => level === 'broken').length;
    const warnings = findings.filter(({ level }) => level === 'warning').length;
    process.stdout.write(
      flags.json ? `${JSON.stringify({ version: 1, broken, warnings, findings })}\n` : plain(textOf(findings)),
    );
    // The report has said why.
    if (broken > 0) throw new Error('');
  });
}

async function ownFindings({ config: file, engine, calls, url }: DoctorFlags): Promise<Finding[]> {
  const inputs = configInputs({ ...(file !== undefined && { config: file }), ...(engine && { engine }) });
  // A gateway that is asked may be on another machine; defaults of this one do not concern it.
  if (url !== undefined && engine === undefined && configFileOf(inputs) === undefined) return [];
  const name = configFileOf(inputs);
  if (name !== undefined && !existsSync(name))
    return [{ level: 'broken', subject: name, found: 'there is no such file', advice: `${OWN_NAME} init --engine URL --out ${name} writes it` }]; // prettier-ignore
  try {
    const config = loadConfig(inputs);
    return [
      {
        level: 'ok',
        subject: 'configuration',
        found: name ?? 'valid; it comes from flags and variables, not from a file',
      },
      ...accessFindings(config, name),
      // The engines of a gateway that is asked are its own.
      ...(hasNoEngine(config) && url !== undefined ? [] : await engineFindings(config, calls)),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ origin, path, message }) => ({
      level: 'broken',
      subject: problemText({ origin, path, message: '' }) || 'configuration',
      found: message,
      // A fault of a flag says how it must be.
      ...(origin?.startsWith('--') !== true && {
        advice: 'docs/CONFIG.md lists the keys; `maitred config` checks the file alone',
      }),
    }));
  }
}

const LEVELS = ['broken', 'warning', 'note', 'ok'] as const;
const isNoun = (level: string) => level === 'warning' || level === 'note';

/** How many findings there are of each level; then each, the worst first, with what to do. */
function textOf(findings: readonly Finding[]): string {
  const indent = ' '.repeat(LEVEL_COLUMNS);
  const rows = folded(findings);
  const counts = LEVELS.map((level) => ({ level, count: rows.filter((each) => each.level === level).length }));
  const sum = counts
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => (isNoun(level) ? counted(count, level) : `${count} ${level}`));
  const lines = rows
    .toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
    .map(({ level, subject, found, advice }, at, sorted) => {
      // Several faults in a row with one remedy have it below the last.
      const isShown = advice !== undefined && advice !== sorted[at + 1]?.advice;
      const texts = [`${subject}: ${found}`, ...(isShown ? [`-> ${advice}`] : [])];
      const shown = texts.flatMap((text) => wrapped(text, COLUMNS - LEVEL_COLUMNS));
      return level.padEnd(LEVEL_COLUMNS) + shown.join(`\n${indent}`);
    });
  return `${sum.join(', ')}\n\n${lines.join('\n')}\n`;
}

/** Equal findings on several subjects, such as all engines, as one. */
function folded(findings: readonly Finding[]): Finding[] {
  const unlike = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.level, finding.found, finding.advice]);
    const same = unlike.get(key);
    unlike.set(key, same === undefined ? finding : { ...same, subject: `${same.subject}, ${finding.subject}` });
  }
  return [...unlike.values()];
}
