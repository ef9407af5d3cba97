/**
 * Runs the standing experiments and puts what they come to into docs/EXPERIMENTS.md, behind its mark, and the charts into
 * docs/experiments. Some twenty minutes on two cores. Further arguments go to `maitred sim report`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync, copyFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = 'docs/EXPERIMENTS.md';
const CHARTS = 'experiments';
const MARK = '<!-- From here on made by scripts/experiments.mjs. -->';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = mkdtempSync(join(tmpdir(), 'maitred-experiments-'));
const { status } = spawnSync(process.execPath, ['dist/cli/main.js', 'sim', 'report', '--out', folder, ...process.argv.slice(2)], { stdio: 'inherit' }); // prettier-ignore
if (status !== 0) process.exit(status ?? 1);

const charts = join('docs', CHARTS);
rmSync(charts, { recursive: true, force: true });
mkdirSync(charts);
for (const name of readdirSync(folder).filter((file) => file.endsWith('.svg'))) copyFileSync(join(folder, name), join(charts, name)); // prettier-ignore

// The report's headings, one level down, and its charts where they are now.
const report = readFileSync(join(folder, 'report.md'), 'utf8')
  .replaceAll(/^(#+ )/gm, '#$1')
  .replaceAll(/\]\(([^()]+\.svg)\)/g, `](${CHARTS}/$1)`);
const [before] = readFileSync(DOCUMENT, 'utf8').split(MARK);
writeFileSync(DOCUMENT, `${before.trimEnd()}\n\n${MARK}\n\n${report}`);
rmSync(folder, { recursive: true });
