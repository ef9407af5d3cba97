/** Text of untrusted names for a terminal: what it may contain, and how many columns it takes. */

/** Longest text to look at, in UTF-16 units: no terminal is that wide, and a name may have megabytes. */
const UNITS_MAX = 2000;
/** Marks that one character may carry; more would paint over the lines around it. */
const MARKS_MAX = 2;

/** Joiners and variation selectors: terminals disagree on their width, and nothing is lost without them. */
const IGNORED = /^[\u00AD\u200C\u200D\uFE00-\uFE0F\u{E0100}-\u{E01EF}]$/u;
/** Controls, direction overrides, lone surrogates, and what this Unicode version does not know. */
const UNSAFE = /^[\p{C}\p{Zl}\p{Zp}]$/u;
const MARK = /^[\p{Mn}\p{Me}\u1160-\u11FF\uD7B0-\uD7FF]$/u;
/** East Asian wide and fullwidth characters, and emoji; a flag's letters count one each. */
const WIDE =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\u4DBF\u4E00-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18CFF}\u{1B000}-\u{1B2FF}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]|(?!\p{Regional_Indicator})\p{Emoji_Presentation})$/u;

/** The text in characters that a terminal only shows: one line, no escapes, no reordering. */
export function printable(text: string): string {
  let marks = MARKS_MAX;
  let shown = '';
  for (const character of text.slice(0, UNITS_MAX)) {
    if (IGNORED.test(character)) continue;
    const isMark = MARK.test(character);
    marks = isMark ? marks + 1 : 0;
    if (marks <= MARKS_MAX) shown += UNSAFE.test(character) ? '\uFFFD' : character;
  }
  return shown;
}

/** Columns that printable text takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** Printable text in exactly `width` columns: padded, or cut with an ellipsis. */
export function fitted(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const cut = widthOf(text) <= width ? text : `${beginning(text, width - 1)}${width > 0 ? '…' : ''}`;
  const padding = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'left' ? cut + padding : padding + cut;
}

/** Characters at the end of a name that stay; names that begin alike differ there. */
const END_MAX = 8;

/** Printable text in at most `width` columns, cut before its end. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const end = mirrored(beginning(mirrored(text), Math.min(END_MAX, Math.floor((width - 1) / 2))));
  return `${beginning(text, width - 1 - widthOf(end))}…${end}`;
}

const mirrored = (text: string): string => Array.from(text).reverse().join('');

/** Breaks printable text at spaces into lines of at most `width` columns; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) line = longer;
    else {
      if (line !== '') lines.push(line);
      line = word;
    }
  }
  return line === '' ? lines : [...lines, line];
}

function beginning(text: string, width: number): string {
  let shown = '';
  let left = width;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    shown += character;
  }
  return shown;
}

function columnsOf(character: string): number {
  return MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}
