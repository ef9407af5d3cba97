/**
 * One page in one file: styles inside, nothing fetched, no script needed to read it. Text becomes markup only through
 * `html`, which escapes its input.
 */
import { pageStyle } from './page-style.js';
import { escapeMarkup } from './svg-document.js';

/** Text that is markup already. */
export class Markup {
  constructor(readonly text: string) {}
}

type Content = Markup | string | number | readonly Content[];

/** Markup with values: text is escaped, markup is not, and lists are joined. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(
    parts.map((part, index) => part + (index < values.length ? textOf(values[index] ?? '') : '')).join(''),
  );
}

function textOf(content: Content): string {
  if (content instanceof Markup) return content.text;
  return typeof content === 'object' ? content.map(textOf).join('') : escapeMarkup(String(content));
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly string[];
  /** Headings that each span some columns, from the second on. */
  readonly groups?: readonly { readonly heading: string; readonly columns: readonly string[] }[];
  /** The first cell names its row; the others are figures. */
  readonly rows: readonly (readonly string[])[];
}

export function table({ caption, columns, groups = [], rows }: Table): Markup {
  const [corner = '', ...headings] = columns;
  const over = groups.some(({ heading }) => heading !== '')
    ? html`<tr><td></td>${groups.map((group) => html`<th scope="colgroup" colspan="${group.columns.length}">${group.heading}</th>`)}</tr>`
    : ''; // prettier-ignore
  const head = html`${over}<tr><th scope="col">${corner}</th>${headings.map((text) => html`<th scope="col">${text}</th>`)}</tr>`; // prettier-ignore
  const body = rows.map(
    ([name = '', ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
  ); // prettier-ignore
  // A table wider than the screen scrolls by itself, with the keyboard too; its caption stays.
  return html`<figure class="table"><figcaption>${caption}</figcaption><div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table aria-label="${caption}"><thead>${head}</thead><tbody>\n${body}</tbody></table></div></figure>\n`; // prettier-ignore
}

export interface Figure {
  /** A chart as SVG text from `plot.ts`. */
  readonly svg: string;
  readonly caption: string;
  /** The chart's figures, for readers who cannot see it or want exact values. */
  readonly table?: Table;
  /** On a narrow screen it scrolls, because it would be too small to read: as wide as a column, or as the page. */
  readonly wide?: 'column' | 'page';
}

export function figure({ svg, caption, table: figures, wide }: Figure): Markup {
  const drawing = new Markup(svg);
  const shown = wide ? html`<div class="scroll wide" tabindex="0" role="group" aria-label="${caption}">${drawing}</div>` : drawing; // prettier-ignore
  const details = figures ? folded('In figures', table(figures)) : '';
  return html`<figure class="${wide ?? 'column'}">${shown}<figcaption>${caption}</figcaption>${details}</figure>\n`; // prettier-ignore
}

/** Figures next to each other if there is room. */
export const figures = (list: readonly Figure[]): Markup => html`<div class="figures">${list.map(figure)}</div> `;

/** A few key numbers, large. */
export const tiles = (list: readonly { readonly name: string; readonly value: string; readonly note?: string }[]): Markup =>
  html`<dl class="tiles">\n${list.map(({ name, value, note }) => html`<div><dt>${name}</dt><dd>${value}${note === undefined ? '' : html`<small>${note}</small>`}</dd></div>\n`)}</dl>\n`; // prettier-ignore

/** A sentence that stands out. */
export const callout = (kind: 'finding' | 'good' | 'bad' | 'warning', content: Content): Markup =>
  html`<p class="callout ${kind}" role="note">${content}</p> `;

/** Lines to copy, such as commands or settings. */
export const code = (lines: readonly string[]): Markup => html`<pre>${lines.join('\n')}</pre> `;

/** Content that few readers want, behind a click. */
export const folded = (summary: string, ...content: readonly Markup[]): Markup =>
  html`<details>
    <summary>${summary}</summary>
    ${content}
  </details> `;

export const paragraph = (...content: readonly Content[]): Markup => html`<p>${content}</p> `;

export const section = (heading: string, ...content: readonly Markup[]): Markup =>
  html`<section id="${idOf(heading)}">
    <h2>${heading}</h2>
    ${content}
  </section> `;

/** Links to sections by their headings, for a long page. */
export const contents = (headings: readonly string[]): Markup =>
  html`<nav aria-label="Contents"><ul>${headings.map((heading) => html`<li><a href="#${idOf(heading)}">${heading}</a></li>`)}</ul></nav> `; // prettier-ignore

const idOf = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

export interface Page {
  readonly title: string;
  /** Its subject, below the title. */
  readonly subtitle: string;
  readonly content: readonly Markup[];
  readonly foot: string;
}

export function page({ title, subtitle, content, foot }: Page): string {
  const head = html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    <style>
      ${new Markup(pageStyle())}
    </style>`;
  const body = html`<header>
      <h1>${title}</h1>
      <p>${subtitle}</p>
    </header>
    <main>${content}</main>
    <footer>${foot}</footer>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}
