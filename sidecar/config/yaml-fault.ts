import type { YAMLError } from 'yaml';
import { CONFIG_KEYS, SECRET_KEYS } from './keys.js';

/** Codes of the parser for a line that does not fit the lines around it. */
const MISFIT = '(?:BAD_INDENT|MISSING_CHAR|\\w+_IMPLICIT_KEY)';
const KEY = /^\s*(?:- +)*(["']?)[\w.-]+\1\s*:(?=\s|$)/;

/** Words for a line with the parser's code and message below it; the first pattern that matches has them. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ *\t/, 'a tab stands in the indentation: indent with spaces'],
  [/^(<{7}|={7}|>{7})\s/, 'is the mark of a merge conflict: resolve it'],
  [/\nMULTIPLE_DOCS/, 'a second document begins: remove the line "---", or all from there'],
  [/\n\w+ Missing closing/, 'a quote opens and does not close'],
  [/\nBAD_DQ_ESCAPE/, 'a backslash in "double quotes" begins an escape: use \'single quotes\''],
  [/\n(BAD_SCALAR_START|BAD_ALIAS|TAG_RESOLVE_FAILED)/, 'a value that begins with such a sign needs quotes'],
  [/\n\w+ Flow /, 'a bracket, [ or {, that opens here or above does not close'],
  [/\n(BLOCK_IN_FLOW|\w+ Missing ,)/, 'a comma or a bracket is missing'],
  [/\nNON_STRING_KEY/, 'a value that begins with { or [ needs quotes'],
  [/^(\[|\w+ *=)/, 'is not YAML: write "key: value", and indent the keys of a section below its name'],
  [/\nUNEXPECTED_TOKEN/, 'has more after its value has ended: put quotes around all of it'],
  [/: .*: .*\nBLOCK_AS_IMPLICIT_KEY/, 'a value with a colon and a space in it needs quotes'],
  [
    new RegExp(`^(?!${KEY.source.slice(1)}).*\\n${MISFIT}`),
    'has no key with a colon and a space after it, as in "port: 8080"',
  ],
];

/** A fault in plain words, and the line to change, from 1: not always the one on which a parser stops. */
export function yamlFault({ code, message }: YAMLError, lines: readonly string[], stop: number) {
  const [, quote] = /^Missing closing (["'])/.exec(message) ?? [];
  const open = quote === undefined ? -1 : lines.findIndex((line) => line.split(quote).length % 2 === 0);
  const at = open < 0 ? stop : open;
  const text = lines[at] ?? '';
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && columnOf(lines[at + 1]) > columnOf(text))
    return { message: misplaced(lines, at + 1), line: at + 2 };
  if (code === 'DUPLICATE_KEY') {
    const key = text.split(':', 1)[0] ?? '';
    const first = lines.slice(0, at).findLastIndex((line) => line.split(':', 1)[0] === key);
    const where = first < 0 ? '' : `, after line ${first + 1}`;
    return { message: `has the key ${key.replace(/^[\s-]+/, '')} once more${where}: keep one`, line: at + 1 };
  }
  const fault = `${code} ${message}`;
  const [, words] = WORDS.find(([pattern]) => pattern.test(`${text}\n${fault}`)) ?? [];
  const otherwise = new RegExp(`^${MISFIT}`).test(fault) ? misplaced(lines, at) : `is not valid YAML: ${message}`;
  return { message: words ?? otherwise, line: at + 1 };
}

const isItem = (line = '') => /^\s*- /.test(line);
const columnOf = (line = '') => line.search(/[^\s-]|-(?! )/);

/** The line's indentation beside those of its section, above it. */
function misplaced(lines: readonly string[], at: number): string {
  const item = isItem(lines[at]);
  const column = (line = '') => 1 + (item ? line.indexOf('-') : columnOf(line));
  const above = lines.slice(0, at).filter((line) => /^\s*[^\s#]/.test(line));
  const section = above.slice(
    Math.max(
      0,
      above.findLastIndex((line) => /^\S/.test(line)),
    ),
  );
  const columns = section.filter((line) => !item || isItem(line)).map(column);
  const known = [...new Set(columns)].sort((a, b) => a - b);
  const own = column(lines[at]);
  return known.length === 0 || known.includes(own)
    ? 'does not fit what stands above it: the keys of a section begin in one column, and so do the items of a list'
    : `begins in column ${own}, the ${item ? 'items' : 'keys'} above it in ${known.join(' or ')}: align it with its neighbours`;
}

/** Other keys may be secrets with a slip in their names. */
const SECRET_NAMES = new Set(SECRET_KEYS.map(({ segments }) => segments.at(-1)));
const SHOWN = new Set(CONFIG_KEYS.flatMap(({ segments }) => segments).filter((name) => !SECRET_NAMES.has(name)));
/** A key before its value, not the scheme or the port of a URL. Each word is tried once: a line may be long. */
const BEFORE_VALUE = /(?<![^\s"'{}[\],:])([^\s"'{}[\],:]+)(?:\s*["'])?\s*:(?!\/\/|\d+\b)\s*(?=[^\s#])/g;

/** A secret's value; of a URL, its user; of a line without a key, all: it may be a secret. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/((?:token|key|sha256|secret|password)["']?\s*:\s*)[^\s#].*/gi, '$1…'],
  [/\/\/[^/@\s]*@/g, '//…@'],
  [/^(?!.*:(?:\s|$))(\s*(?:- )?(?:[a-z]+ (?! *#))?)\s*[^\s#].*/i, '$1…'],
];

/** The line between its neighbours, numbered, without secrets. */
export function excerpt(lines: readonly string[], line: number): string[] {
  const width = String(line + 1).length;
  return [line - 1, line, line + 1].flatMap((each) => {
    const text = (lines[each - 1] ?? '').replaceAll('\t', '→').trimEnd();
    const hidden = [...text.matchAll(BEFORE_VALUE)].find(([, name = '']) => !SHOWN.has(name));
    const known = hidden === undefined ? text : `${text.slice(0, hidden.index + hidden[0].length)}…`;
    const safe = SECRETS.reduce((shown, [secret, mark]) => shown.replace(secret, mark), known);
    return text === '' ? [] : [`${each === line ? '>' : ' '} ${String(each).padStart(width)} | ${safe}`];
  });
}
