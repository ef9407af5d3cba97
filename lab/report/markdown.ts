import type { Block, Table } from './block.js';
import { missingText, textOf, type Chapter, type Report } from './report.js';

/** The report as Markdown, its charts as files beside it. */
export function markdownOf({ title, notes, chapters, commands }: Report): string {
  return [
    `# ${title}`,
    ...notes,
    ...chapters.flatMap(chapterOf),
    '## Commands',
    ['```sh', ...commands, '```'].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

function chapterOf(chapter: Chapter): string[] {
  const { title, about } = chapter.experiment;
  return [`## ${title}`, about, ...missingText(chapter), ...chapter.blocks.map(blockOf)];
}

function blockOf(block: Block): string {
  return block.type === 'table'
    ? `**${block.caption}**\n\n${tableOf(block)}`
    : `![${textOf(block).title}](${block.name}.svg)`;
}

/** Padded as prettier does, so that a copy needs no reformatting. */
function tableOf({ columns, rows }: Table): string {
  const cells = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = columns.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`; // prettier-ignore
  const [head = [], ...body] = cells;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n');
}
