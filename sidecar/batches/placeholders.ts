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
/** Most names that are looked for among the ids. */
const NAMES_MAX = 10_000;

interface Found {
  /** The first line that has the name, and what that one inserts. */
  readonly line: number;
  readonly after: ReadonlySet<string>;
  lines: number;
}

/** Finds each `${name}` that its line does not insert. */
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
      else if (this.#found.size < NAMES_MAX) this.#found.set(name, { line, after, lines: 1 });
      else return;
    }
  }

  /** Those that name lines, whose answers would not be waited for. */
  faults(lines: readonly Outline[]): Problem[] {
    return lines.flatMap(({ customId }) => {
      const found = this.#found.get(customId);
      // A repeated id is told of by itself.
      return found === undefined || !this.#found.delete(customId)
        ? []
        : problem(
            'missing_after',
            `${shownOf(customId, found)} names a line, so "after" must name it too. Is it only text? Then give that line another custom_id.`,
            found.line,
            'after',
          );
    });
  }

  /** Others may be mistyped: the likely ones first. @yields often, so that the caller may do other work in between */
  *warnings(lines: readonly Outline[]): Generator<void, readonly Problem[]> {
    // Where no line needs another, they are code.
    if (!lines.some(({ needs }) => needs.length > 0)) return [];
    const ids = lines.length <= COMPARED_MAX ? lines.map(({ customId }) => customId) : [];
    const near: Problem[] = [];
    const far: Problem[] = [];
    for (const [name, found] of [...this.#found].slice(0, PROBLEMS_MAX)) {
      const { line, after } = found;
      const known = [...after, ...ids].slice(0, COMPARED_MAX);
      const isComparable = name.length >= CHARS_MIN && name.length <= CHARS_MAX;
      let meant: string | undefined;
      for (let at = 0; isComparable && at < known.length; at += AT_ONCE) {
        meant = similarTo(name, [...(meant === undefined ? [] : [meant]), ...known.slice(at, at + AT_ONCE)]);
        yield;
      }
      const said = `${shownOf(name, found)} is sent as it is: ${whyKept(name, meant, after)}`;
      (meant === undefined ? far : near).push(problem('placeholder_kept', said, line, 'body'));
    }
    return [...near, ...far];
  }
}

function shownOf(name: string, { lines }: Found): string {
  const also = lines === 1 ? '' : `, here and on ${counted(lines - 1, 'more line')},`;
  return `\${${name.length > CHARS_MAX ? `${name.slice(0, CHARS_MAX)}…` : name}}${also}`;
}

/** @param meant id of the line that the name may mean */
function whyKept(name: string, meant: string | undefined, after: ReadonlySet<string>): string {
  if (name === ITEM) return 'only a line with "each" has an item';
  if (meant === undefined) return 'it names no line of this file';
  return `did you mean \${${meant}}?${after.has(meant) ? '' : ` "after" does not name ${meant}`}`;
}
