/**
 * Replaces docs/EXPERIMENTS-TABLES.md with the tables of a report of the standing experiments, and the charts in
 * docs/experiments:
 *
 *     npx maitred sim report --out report && node scripts/publish-report.mjs report
 *
 * docs/EXPERIMENTS.md and docs/EXPERIMENTS-DETAILS.md, which explain them, are written by hand.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = 'docs/EXPERIMENTS-TABLES.md';
const CHARTS = 'experiments';
const MARK = '<!-- Made by scripts/publish-report.mjs. -->';

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('maitred: name the folder of a report\n');
  process.exit(2);
}
const report = resolve(folder);
process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const charts = join('docs', CHARTS);
rmSync(charts, { recursive: true, force: true });
mkdirSync(charts);
const drawings = readdirSync(report).filter((name) => name.endsWith('.svg'));
for (const name of drawings) copyFileSync(join(report, name), join(charts, name));

const text = readFileSync(join(report, 'report.md'), 'utf8').replaceAll(/\]\(([^()]+\.svg)\)/g, `](${CHARTS}/$1)`);
writeFileSync(DOCUMENT, `${MARK}\n\n${text}`);
