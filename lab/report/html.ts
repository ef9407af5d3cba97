import type { Block, Chart } from './block.js';
import {
  code,
  contents,
  figures,
  folded,
  html,
  page,
  paragraph,
  section,
  table,
  type Figure,
  type Markup,
} from './page.js';
import { missingText, textOf, type Chapter, type Report } from './report.js';

/** Chart width above which a chart gets a row of its own. */
const FIGURE_WIDTH = 500;

/** Longer tables beside charts are behind a click, since the charts show what is in them. */
const ROWS_MAX = 16;

/**
 * The report as one self-contained page.
 * @param policies a sentence about each policy
 */
export function htmlOf(
  { title, notes, chapters, commands }: Report,
  charts: ReadonlyMap<string, string>,
  policies: Readonly<Record<string, string>>,
): string {
  return page({
    title,
    subtitle: notes.join(' '),
    content: [
      contents([...chapters.map(({ experiment }) => experiment.title), 'Policies', 'Commands']),
      ...chapters.map((chapter) => chapterOf(chapter, charts)),
      section('Policies', html`<ul>${Object.entries(policies).map(([name, sentence]) => html`<li><strong>${name}</strong>: ${sentence}</li>`)}</ul>`), // prettier-ignore
      section('Commands', folded(`${commands.length} to repeat the runs`, code(commands))),
    ],
    foot: 'maitred sim report',
  });
}

function chapterOf(chapter: Chapter, charts: ReadonlyMap<string, string>): Markup {
  return section(
    chapter.experiment.title,
    withCode(chapter.experiment.about),
    ...missingText(chapter).map(withCode),
    ...contentOf(chapter.blocks, charts),
  );
}

function contentOf(blocks: readonly Block[], charts: ReadonlyMap<string, string>): Markup[] {
  const hasCharts = blocks.some(({ type }) => type === 'chart');
  return blocks.flatMap((block, at) => {
    if (block.type === 'table' && block.rows.length > ROWS_MAX && hasCharts) return folded(block.caption, table(block));
    if (block.type !== 'chart') return blockOf(block);
    if (blocks[at - 1]?.type === 'chart') return [];
    return figures(leadingCharts(blocks.slice(at)).map((chart) => figureOf(chart, charts)));
  });
}

/** Leading charts, which stand next to each other. */
function leadingCharts(blocks: readonly Block[]): Chart[] {
  const end = blocks.findIndex(({ type }) => type !== 'chart');
  return blocks.slice(0, end < 0 ? undefined : end).filter((block) => block.type === 'chart');
}

function figureOf(chart: Chart, charts: ReadonlyMap<string, string>): Figure {
  const { title, description, width = 0 } = textOf(chart);
  const svg = charts.get(chart.name) ?? '';
  return { svg, caption: `${title}. ${description}`, ...(width > FIGURE_WIDTH && { wide: 'page' as const }) };
}

function blockOf(block: Exclude<Block, Chart>): Markup[] {
  switch (block.type) {
    case 'findings':
      if (block.sentences.length === 0) return [];
      return [html`<ul>${block.sentences.map((sentence) => html`<li>${codeOf(sentence)}</li>`)}</ul>`]; // prettier-ignore
    case 'table':
      return [table(block)];
  }
}

const withCode = (text: string): Markup => paragraph(codeOf(text));

/** Text between backticks is code, as in Markdown; sentences have no other markup. */
const codeOf = (text: string): Markup[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
