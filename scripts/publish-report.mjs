/**
 * Puts the tables of a report of the standing experiments into docs/EXPERIMENTS-TABLES.md, and its charts into
 * docs/experiments:
 *
 *     npx maitred sim report --out report && node scripts/publish-report.mjs report
 *
 * A report of all experiments replaces the page; one made with `--only` replaces the chapters that it has, or adds them.
 * docs/EXPERIMENTS.md and docs/EXPERIMENTS-DETAILS.md, which explain them, are written by hand.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = 'docs/EXPERIMENTS-TABLES.md';
const CHARTS = 'experiments';
const MARK = '<!-- Made by scripts/publish-report.mjs. -->';
/** The last chapter: a code block with a line for each command. */
const COMMANDS = '## Commands';

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('maitred: name the folder of a report\n');
  process.exit(2);
}
const report = resolve(folder);
process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const text = readFileSync(join(report, 'report.md'), 'utf8').replaceAll(/\]\(([^()]+\.svg)\)/g, `](${CHARTS}/$1)`);
const isPart = /^maitred sim report .*--only /m.test(text);

const charts = join('docs', CHARTS);
if (!isPart) rmSync(charts, { recursive: true, force: true });
mkdirSync(charts, { recursive: true });
const drawings = readdirSync(report).filter((name) => name.endsWith('.svg'));
for (const name of drawings) copyFileSync(join(report, name), join(charts, name));

writeFileSync(DOCUMENT, isPart ? merged(readFileSync(DOCUMENT, 'utf8'), text) : `${MARK}\n\n${text}`);

/** The page with the chapters of the part, and its commands. */
function merged(page, part) {
  const [head, ...chapters] = chaptersOf(page);
  const [, ...newer] = chaptersOf(part);
  const commands = chapters.pop();
  const newCommands = newer.pop();
  for (const chapter of newer) {
    const place = chapters.findIndex((old) => titleOf(old) === titleOf(chapter));
    chapters.splice(place < 0 ? chapters.length : place, place < 0 ? 0 : 1, chapter);
  }
  const lines = new Set([...linesOf(commands), ...linesOf(newCommands)]);
  return [head, ...chapters, `${COMMANDS}\n\n\`\`\`sh\n${[...lines].join('\n')}\n\`\`\`\n`].join('');
}

function chaptersOf(markdown) {
  return markdown.split(/^(?=## )/m);
}

function titleOf(chapter) {
  return chapter.slice(0, chapter.indexOf('\n'));
}

function linesOf(commands) {
  return commands.split('\n').filter((line) => line.startsWith('maitred '));
}
