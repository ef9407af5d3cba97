import type { YAMLError } from 'yaml';

/** A fault of a file's YAML, in plain words. */
export interface YamlFault {
  readonly message: string;
  /** The line to change, from 1: not always the one on which a parser stops. */
  readonly line: number;
}

type Rule = readonly [
  applies: (fault: Where) => boolean,
  message: (fault: Where) => string,
  line?: (fault: Where) => number,
];

interface Where extends Pick<YAMLError, 'code' | 'message'> {
  readonly lines: readonly string[];
  /** Index of the line, and its text. */
  readonly at: number;
  readonly text: string;
}

/** Words of the parser for a line that does not fit the lines around it. */
const MISFIT = /^(All |Sequence item without|Nested mappings|A block sequence|Implicit )/;
const KEY = /^\s*(?:- +)*(["']?)([\w.-]+)\1\s*:(?:\s|$)/;

/** The first that applies has the words. */
const RULES: readonly Rule[] = [
  [({ text }) => /^ *\t/.test(text), () => 'a tab stands in the indentation: indent with spaces'],
  [({ text }) => /^(<{7}|={7}|>{7})( |$)/.test(text), () => 'is the mark of a merge conflict: resolve it'],
  [({ code }) => code === 'MULTIPLE_DOCS', () => 'a second document begins: remove the line "---", or all from there'],
  [({ code }) => code === 'DUPLICATE_KEY', ({ text, lines, at }) => `has the key ${keyOf(text)} once more${earlier(lines, at)}: keep one`],
  [({ message }) => message.startsWith('Missing closing'), () => 'a quote opens and does not close', ({ message, lines, at }) => openQuote(lines, message.at(-6) === '"' ? '"' : "'") ?? at],
  [({ code }) => code === 'BAD_DQ_ESCAPE', () => 'a backslash in "double quotes" begins an escape: use \'single quotes\''],
  [({ code }) => /^(BAD_SCALAR_START|BAD_ALIAS|TAG_RESOLVE_FAILED)$/.test(code), () => 'a value that begins with such a sign needs quotes'],
  [({ message }) => message.startsWith('Flow '), () => 'a bracket, [ or {, that opens here or above does not close'],
  [({ code, message }) => code === 'BLOCK_IN_FLOW' || message.startsWith('Missing ,'), () => 'a comma or a bracket is missing'],
  [({ code }) => code === 'NON_STRING_KEY', () => 'a value that begins with { or [ needs quotes'],
  [({ text }) => /^\[|^\w+ *=/.test(text), () => 'is not YAML: write "key: value", and indent the keys of a section below its name'],
  [({ code }) => code === 'UNEXPECTED_TOKEN', () => 'has more after its value has ended: put quotes around all of it'],
  [({ code, lines, at }) => code === 'BLOCK_AS_IMPLICIT_KEY' && columnOf(lines[at + 1]) > columnOf(lines[at]), ({ lines, at }) => misplaced(lines, at + 1), ({ at }) => at + 1],
  [({ code, text }) => code === 'BLOCK_AS_IMPLICIT_KEY' && /: .*: /.test(text), () => 'a value with a colon and a space in it needs quotes'],
  [({ message, text }) => MISFIT.test(message) && !KEY.test(text), () => 'has no key with a colon and a space after it, as in "port: 8080"'],
  [({ message }) => MISFIT.test(message), ({ lines, at }) => misplaced(lines, at)],
]; // prettier-ignore

export function yamlFault({ code, message }: YAMLError, lines: readonly string[], at: number): YamlFault {
  const where = { code, message: message.split('\n', 1)[0] ?? '', lines, at, text: lines[at] ?? '' };
  const [, words, line] = RULES.find(([applies]) => applies(where)) ?? [];
  return { message: words?.(where) ?? `is not valid YAML: ${where.message}`, line: (line?.(where) ?? at) + 1 };
}

const columnOf = (line = '') => line.search(/[^\s-]|-(?! )/);
const keyOf = (line: string) => KEY.exec(line)?.[2] ?? '';
const isText = (line: string) => /^\s*[^\s#]/.test(line);

function earlier(lines: readonly string[], at: number): string {
  const text = lines[at] ?? '';
  const first = lines.findIndex((line, index) => index < at && columnOf(line) === columnOf(text) && keyOf(line) === keyOf(text)); // prettier-ignore
  return first < 0 ? '' : `, after line ${first + 1}`;
}

/** Line with an opening quote alone. */
function openQuote(lines: readonly string[], quote: string): number | undefined {
  const found = lines.findIndex((line) => line.split(quote).length % 2 === 0);
  return found < 0 ? undefined : found;
}

/** The line's indentation beside those of its section, above it. */
function misplaced(lines: readonly string[], at: number): string {
  const above = lines.slice(0, at).filter(isText);
  const section = above.slice(Math.max(0, above.findLastIndex((line) => /^\S/.test(line)))); // prettier-ignore
  const isItem = /^\s*- /.test(lines[at] ?? '');
  const items = isItem ? section.filter((line) => /^\s*- /.test(line)) : [];
  const columns = items.length > 0 ? items.map((line) => line.search(/\S/)) : section.map(columnOf);
  const own = isItem ? (lines[at] ?? '').search(/\S/) : columnOf(lines[at]);
  const known = [...new Set(columns)].sort((a, b) => a - b);
  return known.includes(own)
    ? 'does not fit what stands above it: the keys of a section begin in one column, and so do the items of a list'
    : `begins in column ${own + 1}, the ${items.length > 0 ? 'items' : 'keys'} above it in ${known.map((column) => column + 1).join(' or ')}: align it with its neighbours`;
}

/** A value of a secret, or what may be one: text without a key. */
const SECRET = /((?:token|key|sha256|secret|password)["']?\s*:\s*)[^\s#].*/gi;

/** The line between its neighbours, numbered, without secrets. */
export function excerpt(lines: readonly string[], line: number): string[] {
  const width = String(line + 1).length;
  return [line - 1, line, line + 1]
    .filter((each) => each > 0 && (lines[each - 1] ?? '').trim() !== '')
    .map((each) => {
      const text = (lines[each - 1] ?? '').replaceAll('\t', '→').trimEnd();
      const safe = /:(\s|$)/.test(text) ? text.replace(SECRET, '$1…').replace(/\/\/[^/@\s]*@/g, '//…@') : text.replace(/^(\s*(?:- )?(?:[a-z]+ (?! *#))?)\s*[^\s#].*/i, '$1…'); // prettier-ignore
      return `${each === line ? '>' : ' '} ${String(each).padStart(width)} | ${safe}`;
    });
}
