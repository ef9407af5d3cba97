import type { Block } from '../experiments/experiment.js';
import { figure, html, page, paragraph, section, table, type Markup } from './page.js';
import { missingText, textOf, type Chapter, type Report } from './report.js';

/** The report as one page that needs no other file. */
export function htmlOf({ title, notes, chapters, commands }: Report, charts: ReadonlyMap<string, string>): string {
  return page({
    title,
    subtitle: notes.join(' '),
    content: [
      ...chapters.map((chapter) => chapterOf(chapter, charts)),
      section('Commands', html`<pre>${commands.join('\n')}</pre>`),
    ],
    foot: 'maitred sim report',
  });
}

function chapterOf(chapter: Chapter, charts: ReadonlyMap<string, string>): Markup {
  return section(
    chapter.experiment.title,
    withCode(chapter.experiment.about),
    ...missingText(chapter).map(withCode),
    ...chapter.blocks.map((block) => blockOf(block, charts)),
  );
}

function blockOf(block: Block, charts: ReadonlyMap<string, string>): Markup {
  switch (block.type) {
    case 'paragraph':
      return withCode(block.text);
    case 'findings':
      return block.sentences.length === 0 ? html`` : html`<ul>${block.sentences.map((sentence) => html`<li>${codeOf(sentence)}</li>`)}</ul>`; // prettier-ignore
    case 'table':
      return table(block);
    case 'chart': {
      const { title, description } = textOf(block);
      return figure({ svg: charts.get(block.name) ?? '', caption: `${title}. ${description}` });
    }
  }
}

const withCode = (text: string): Markup => paragraph(codeOf(text));

/** What stands between backticks is code, as in Markdown; nothing else is marked up in sentences. */
const codeOf = (text: string): Markup[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
