import { ITEM, problem, PROBLEMS_MAX, type BatchLine, type Outline, type Problem } from '../../plans/index.js';
import { similarTo } from '../config/index.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
/** Texts that are remembered, as the lines that they may mean follow later. */
const FOUND_MAX = 1000;
/** Shortest and longest text that can be a mistyped id. */
const CHARS_MIN = 4;
const CHARS_MAX = 64;
/** Most ids of lines that a text is compared with, comparisons of all texts, and those in one go. */
const COMPARED_MAX = 1000;
const COMPARISONS_MAX = 100_000;
const AT_ONCE = 50;

/** Finds each `${name}` that is sent as it is, though it seems to mean a line. */
export class Placeholders {
  readonly #found: { readonly name: string; readonly line: number; readonly after: ReadonlySet<string> }[] = [];

  look(text: Buffer, { after }: BatchLine, line: number): void {
    if (this.#found.length >= FOUND_MAX || !text.includes('${')) return;
    for (const name of new Set(Array.from(text.toString().matchAll(PLACEHOLDER), ([, name = '']) => name)))
      if (name !== ITEM && !after.has(name)) this.#found.push({ name, line, after });
  }

  /** @yields often, so that the caller may do other work in between */
  *warnings(lines: readonly Outline[]): Generator<void, readonly Problem[]> {
    const ids = new Set(lines.map(({ customId }) => customId));
    // Where no line needs another, texts that resemble an id are code.
    const isPlan = ids.size <= COMPARED_MAX && lines.some(({ needs }) => needs.length > 0);
    const warnings: Problem[] = [];
    let left = COMPARISONS_MAX;
    for (const { name, line, after } of this.#found) {
      if (warnings.length >= PROBLEMS_MAX) break;
      let meant = ids.has(name) ? name : undefined;
      if (meant === undefined && name.length >= CHARS_MIN && name.length <= CHARS_MAX && left > 0) {
        const near = [...after, ...(isPlan ? ids : [])].slice(0, COMPARED_MAX);
        left -= near.length;
        for (let at = 0; at < near.length; at += AT_ONCE) {
          const some = near.slice(at, at + AT_ONCE);
          meant = similarTo(name, meant === undefined ? some : [meant, ...some]);
          yield;
        }
      }
      if (meant === undefined) continue;
      const why = [
        meant === name ? '' : ` did you mean \${${meant}}?`,
        after.has(meant) ? '' : ` "after" does not name ${meant}`,
      ];
      warnings.push(problem('placeholder_kept', `\${${name}} is sent as it is:${why.join('')}`, line, 'body'));
    }
    return warnings;
  }
}
