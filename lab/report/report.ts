import type { Experiment } from '../experiments/experiment.js';
import { barChart, lineChart, type Block, type Table } from './plot.js';

interface Chapter {
  readonly experiment: Experiment;
  readonly blocks: readonly Block[];
  readonly missing: readonly string[];
}

export interface Report {
  readonly title: string;
  /** Facts about the whole report: seeds, model, whether it was stopped. */
  readonly notes: readonly string[];
  readonly chapters: readonly Chapter[];
  /** The command that writes it anew. */
  readonly command: string;
}

export async function drawCharts({ chapters }: Report): Promise<ReadonlyMap<string, string>> {
  const drawn = new Map<string, string>();
  for (const block of chapters.flatMap(({ blocks }) => blocks))
    if (block.type === 'chart')
      drawn.set(block.name, await ('lines' in block ? lineChart(block.lines) : barChart(block.bars)));
  return drawn;
}

/** The report as Markdown, its charts as files beside it. */
export function markdownOf({ title, notes, chapters, command }: Report): string {
  return [`# ${title}`, ...notes, ...chapters.flatMap(chapterOf), '## Command', ['```sh', command, '```'].join('\n')]
    .join('\n\n')
    .concat('\n');
}

function chapterOf({ experiment: { title, about }, blocks, missing }: Chapter): string[] {
  const left = missing.length === 0 ? [] : [`Left out, as the recordings are not here: ${missing.join(', ')}.`];
  return [`## ${title}`, about, ...left, ...blocks.map(blockOf)];
}

function blockOf(block: Block): string {
  return block.type === 'table'
    ? `**${block.caption}**\n\n${tableOf(block)}`
    : `![${('lines' in block ? block.lines : block.bars).title}](${block.name}.svg)`;
}

/** Padded as prettier does, so that a copy needs no reformatting. */
function tableOf({ columns, rows }: Table): string {
  const cells = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = columns.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n');
}
