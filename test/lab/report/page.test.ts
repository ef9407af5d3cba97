import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callout, figure, html, Markup, page, paragraph, section, table } from '../../../lab/report/page.js';

describe('markup', () => {
  it('holds no text as anything but text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { text: made } = html`<i title="${text}">${text}</i>`;
        const [, title = '', inside = ''] = /^<i title="([^"]*)">([^]*)<\/i>$/.exec(made)!;
        expect(inside).toBe(title);
        expect(inside).not.toMatch(/[<>"]|&(?!(amp|lt|gt|quot);)/);
      }),
    );
  });

  it('is kept as it is inside markup, and lists are put together', () => {
    expect(html`<p>${[html`<b>${1}</b>`, ' < ', new Markup('<i>')]}</p>`.text).toBe('<p><b>1</b> &lt; <i></p>');
  });
});

describe('a page', () => {
  const made = page({
    title: 'A & B',
    subtitle: '<sub>',
    content: [
      callout('finding', 'Sooner <by> far'),
      section('Heading', paragraph('Text'), table({ caption: 'Times', columns: ['', 'mean', 'p99'], groups: [{ heading: 'A', columns: ['mean', 'p99'] }], rows: [['one', '1', '2']] })), // prettier-ignore
      figure({ svg: '<svg></svg>', caption: 'Drawn', table: { caption: 'Same', columns: ['', 'y'], rows: [['x', '3']] } }), // prettier-ignore
    ],
    foot: 'end',
  });

  it('closes all that it opens', () => {
    const open: string[] = [];
    for (const [, end, name = ''] of made.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (['meta', 'link', 'br'].includes(name)) continue;
      if (end === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  it('names its rows, columns and groups of columns for those who hear it', () => {
    expect(made.match(/<th scope="(col|row|colgroup)"/g)).toHaveLength(8);
    expect(made).toContain('<th scope="colgroup" colspan="2">A</th>');
  });

  it('gives figures as a table where there is one', () => {
    expect(made).toMatch(/<svg><\/svg><figcaption>Drawn<\/figcaption><details>.*<td>3<\/td>/s);
  });

  it('shows text as text', () => {
    expect(made).toContain('<title>A &amp; B</title>');
    expect(made).not.toMatch(/<sub>|<by>/);
  });
});
