import { fitted, widthOf } from '../text.js';

/** Meaning of a piece of text; a terminal gives each a look. */
export type Style = 'bold' | 'dim' | 'good' | 'warning' | 'bad' | 'inverse';

export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One line of a frame: printable text, no wider than the frame. */
export type Line = readonly Span[];

export const span = (text: string, style?: Style): Span => (style === undefined ? { text } : { text, style });

export const textOf = (line: Line): string => line.map(({ text }) => text).join('');

/** The segments that fit side by side into `width`, the first ones first. */
export function joined(segments: readonly Span[], width: number): Line {
  const line: Span[] = [];
  let left = width;
  for (const segment of segments) {
    const before = line.length === 0 ? '' : '  ';
    if (segment.text === '') continue;
    if (line.length === 0)
      line.push({ ...segment, text: fitted(segment.text, Math.min(width, widthOf(segment.text))) });
    else if (before.length + widthOf(segment.text) <= left) line.push(span(before), segment);
    else break;
    left = width - widthOf(textOf(line));
  }
  return line;
}

/** Codes of the look; the first of each needs no colour. */
const CODES: Readonly<Record<Style, { readonly plain: string; readonly colour: string }>> = {
  bold: { plain: '1', colour: '1' },
  dim: { plain: '', colour: '2' },
  good: { plain: '', colour: '32' },
  warning: { plain: '', colour: '33' },
  bad: { plain: '1', colour: '1;31' },
  inverse: { plain: '7', colour: '7' },
};

/** A line as bytes for a terminal: exactly `width` columns, so that nothing of an earlier one is left. */
export function painted(line: Line, width: number, hasColours: boolean): string {
  let left = width;
  let out = '';
  for (const { text, style } of line) {
    const shown = widthOf(text) <= left ? text : fitted(text, left);
    left -= widthOf(shown);
    const code = style === undefined ? '' : CODES[style][hasColours ? 'colour' : 'plain'];
    out += code === '' ? shown : `\u001B[${code}m${shown}\u001B[0m`;
  }
  return out + ' '.repeat(left);
}
