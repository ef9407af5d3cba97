import { ITEM, problem, PROBLEMS_MAX, type BatchLine, type Outline, type Problem } from '../../plans/index.js';
import { counted } from '../admin/figures.js';
import { parseJson } from '../apis/fields.js';
import { similarTo } from '../config/index.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
/** Shortest and longest text that can be a mistyped id. */
const CHARS_MIN = 3;
const CHARS_MAX = 64;
/** Most ids of lines that a text is compared with, and those in one go. */
const COMPARED_MAX = 1000;
const AT_ONCE = 50;

interface Found {
  /** The first line that has the name, and what that one inserts. */
  readonly line: number;
  readonly after: ReadonlySet<string>;
  lines: number;
}

/** Finds each `${name}` that is sent as it is, though its file has lines that need others: it may be mistyped. */
export class Placeholders {
  readonly #found = new Map<string, Found>();

  look(text: Buffer, { after }: BatchLine, line: number): void {
    if (!text.includes('${')) return;
    const seen = new Set<string>();
    for (const [, written = ''] of text.toString().matchAll(PLACEHOLDER)) {
      if (after.has(written) || seen.has(written)) continue;
      seen.add(written);
      // A placeholder is a part of one JSON string.
      const name = parseJson(`"${written}"`);
      if (typeof name !== 'string' || after.has(name)) continue;
      const found = this.#found.get(name);
      if (found !== undefined) found.lines += 1;
      else if (this.#found.size < PROBLEMS_MAX) this.#found.set(name, { line, after, lines: 1 });
      else return;
    }
  }

  /** Mistyped ids first. @yields often, so that the caller may do other work in between */
  *warnings(lines: readonly Outline[]): Generator<void, readonly Problem[]> {
    const ids = new Set(lines.map(({ customId }) => customId));
    // Where no line needs another, they are code.
    if (!lines.some(({ needs }) => needs.length > 0) && ![...this.#found.keys()].some((name) => ids.has(name)))
      return [];
    const near: Problem[] = [];
    const far: Problem[] = [];
    for (const [name, { line, after, lines }] of this.#found) {
      const known = [...after, ...(ids.size <= COMPARED_MAX ? ids : [])].slice(0, COMPARED_MAX);
      const isComparable = !ids.has(name) && name.length >= CHARS_MIN && name.length <= CHARS_MAX;
      let meant = ids.has(name) ? name : undefined;
      for (let at = 0; isComparable && at < known.length; at += AT_ONCE) {
        meant = similarTo(name, [...(meant === undefined ? [] : [meant]), ...known.slice(at, at + AT_ONCE)]);
        yield;
      }
      const shown = name.length > CHARS_MAX ? `${name.slice(0, CHARS_MAX)}…` : name;
      const why = whyKept(name, meant, after);
      const also = lines === 1 ? '' : `, here and on ${counted(lines - 1, 'more line')}`;
      const said = problem('placeholder_kept', `\${${shown}} is sent as it is${also}: ${why}`, line, 'body');
      (meant === undefined ? far : near).push(said);
    }
    return [...near, ...far];
  }
}

/** @param meant id of the line that the name has, or may mean */
function whyKept(name: string, meant: string | undefined, after: ReadonlySet<string>): string {
  if (name === ITEM && meant !== name) return 'only a line with "each" has an item';
  if (meant === undefined) return 'it names no line of this file';
  const said = [
    ...(meant === name ? [] : [`did you mean \${${meant}}?`]),
    ...(after.has(meant) ? [] : [`"after" does not name ${meant}`]),
  ];
  return said.join(' ');
}
