import type { Command } from 'commander';
import { counted, plain } from '../text/index.js';
import { ConfigError, configFileOf, hasNoEngine, loadConfig, problemText } from '../sidecar/config/index.js';
import { addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { OWN_NAME, addExamples } from './advice.js';
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
      findings.push(...(await gatewayFindings(adminClient(doctor, { ...flags, url: flags.url }), findings)));
    const broken = findings.filter(({ level }) => level === 'broken').length;
    const warnings = findings.filter(({ level }) => level === 'warning').length;
    process.stdout.write(
      flags.json ? `${JSON.stringify({ version: 1, broken, warnings, findings })}\n` : plain(textOf(findings)),
    );
    if (broken === 0 && !flags.json && flags.url === undefined && flags.config !== undefined)
      process.stdout.write(plain(`\nNext: ${OWN_NAME} serve --config ${flags.config}\n`));
    // The report has said why.
    if (broken > 0) throw new Error('');
  });
  doctor.addHelpText('after', '\nExit code: 1 when something is broken, 0 when nothing is, also with warnings,\n2 for a wrong command line.'); // prettier-ignore
  addExamples(doctor, {
    'doctor --config maitred.yaml': 'a file, and the engines in it',
    'doctor --engine http://gpu-1:8000': 'an engine alone',
    'doctor --url http://127.0.0.1:8080': 'a running gateway',
  });
}

async function ownFindings({ config: file, engine, calls, url }: DoctorFlags): Promise<Finding[]> {
  try {
    const inputs = configInputs({ ...(file !== undefined && { config: file }), ...(engine && { engine }) });
    const name = configFileOf(inputs);
    // A gateway that is asked may be on another machine; defaults of this one do not concern it.
    if (url !== undefined && engine === undefined && name === undefined) return [];
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
    return error.problems.map(({ origin, path, message, excerpt }) => ({
      level: 'broken',
      subject: problemText({ origin, path, message: '' }) || 'configuration',
      found: message,
      ...(excerpt && { excerpt }),
      // A fault of a flag, or a missing file, says what to do.
      ...(/^--/.test(origin ?? '') || message.includes(OWN_NAME)
        ? {}
        : {
            advice: `docs/CONFIG.md lists the keys; check the file alone: ${OWN_NAME} config${file === undefined ? '' : ` --config ${file}`}`,
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
    .map(({ level, subject, found, advice, excerpt = [] }, at, sorted) => {
      // Several faults in a row with one remedy have it below the last.
      const isShown = advice !== undefined && advice !== sorted[at + 1]?.advice;
      const [told = [], remedy = []] = [`${subject}: ${found}`, ...(isShown ? [`-> ${advice}`] : [])].map((text) => wrapped(text, COLUMNS - LEVEL_COLUMNS)); // prettier-ignore
      const shown = [...told, ...excerpt, ...remedy];
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
