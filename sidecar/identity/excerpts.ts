import type { TenantId } from '../../src/index.js';
import type { Ends } from './ends.js';
import { hashOf } from './growing.js';
import type { Answered } from './seats.js';
import { SharedCache } from './shared-cache.js';
import { digest } from './trail.js';

/** Shortest and longest line that leads to a text. Shorter ones are common, longer ones take long to hash. */
const LINE_CHARS_MIN = 24;
const LINE_CHARS_MAX = 8192;
/** Lines of a message that are looked up, the first and the last ones. */
const FIRST_LINES = 32;
const LAST_LINES = 96;
/** Longest message to search. */
const CHARS_MAX = 131_072;
/** Texts remembered under one line, the latest ones. */
const PER_LINE = 64;
/** Most texts to compare in one message, and characters of them. */
const COMPARED_MAX = 128;
const COMPARED_CHARS_MAX = 524_288;
/** What clients print before a text in its first line, and after it in its last one. */
const LABEL = /^\s{0,40}(?:<[^<>]{1,200}>|\[?[\w-]{1,40}\]?:)\s{0,40}/;
const CLOSING = /<\/[\w:-]{1,40}>\s{0,40}$/;

/** A text of a program: its hash, and where the line stands that leads to it. */
export interface Excerpt {
  readonly seat: Answered;
  readonly line: number;
  readonly at: number;
  readonly chars: number;
  readonly hash: string;
}

/** @returns undefined for a text without a line that could lead to it */
export function excerptOf(text: string, seat: Answered): Excerpt | undefined {
  if (text.length > CHARS_MAX) return undefined;
  // The first line comes last, because set phrases stand there, and labels before it.
  const [first, ...more] = linesOf(text);
  const longest = more.reduce<Line | undefined>(
    (long, line) => (line.text.length > (long?.text.length ?? 0) ? line : long),
    undefined,
  );
  const lead = [longest, first].find((line) => line && isTelling(line.text));
  return lead && { seat, line: hashOf(lead.text), at: lead.at, chars: text.length, hash: digest(text) };
}

/**
 * Texts that may come back whole inside a message. Each is found by one of its lines, and counts only if all of it is
 * there. At most `max` texts are remembered; the least recently used lines are dropped first.
 */
export class Excerpts<E extends Excerpt> {
  readonly #byLine: SharedCache<readonly E[]>;

  constructor(
    max: number,
    private readonly ends: Ends,
  ) {
    this.#byLine = new SharedCache(max, (excerpts) => excerpts.length);
  }

  remember(tenant: TenantId, excerpt: E): void {
    const others = this.#byLine.get(tenant, excerpt.line) ?? [];
    const alive = others.length < PER_LINE ? others : others.filter(({ seat }) => this.ends.isAlive(seat));
    this.#byLine.set(tenant, excerpt.line, [...alive.slice(1 - PER_LINE), excerpt]);
  }

  /** The texts in a message. @param seen receives the lines that were looked up */
  in(tenant: TenantId, content: string, seen: Set<number>): E[] {
    if (content.length > CHARS_MAX) return [];
    const found: E[] = [];
    let [compared, chars] = [0, 0];
    for (const { at, text } of candidatesIn(content)) {
      const line = hashOf(text);
      seen.add(line);
      for (const excerpt of this.#byLine.get(tenant, line) ?? []) {
        const start = at - excerpt.at;
        if (start < 0 || start + excerpt.chars > content.length || !this.ends.isAlive(excerpt.seat)) continue;
        if ((compared += 1) > COMPARED_MAX || (chars += excerpt.chars) > COMPARED_CHARS_MAX) return found;
        if (digest(content.slice(start, start + excerpt.chars)) === excerpt.hash) found.push(excerpt);
      }
    }
    return found;
  }
}

interface Line {
  readonly at: number;
  readonly text: string;
}

const isTelling = (line: string): boolean => line.length >= LINE_CHARS_MIN && line.length <= LINE_CHARS_MAX;

function linesOf(text: string): Line[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const from = at;
    at += line.length + 1;
    return { at: from, text: line };
  });
}

/** Lines of a message by which a text may be found, each also without what a client has printed around it. */
function candidatesIn(content: string): Line[] {
  const lines = linesOf(content).filter(({ text }) => isTelling(text));
  const chosen =
    lines.length <= FIRST_LINES + LAST_LINES ? lines : [...lines.slice(0, FIRST_LINES), ...lines.slice(-LAST_LINES)];
  return chosen.flatMap((line) => [line, ...bare(line)]);
}

function bare({ at, text }: Line): Line[] {
  const label = LABEL.exec(text)?.[0].length ?? 0;
  const end = CLOSING.exec(text)?.index ?? text.length;
  if (label === 0 && end === text.length) return [];
  const variants = [text.slice(label, end), text.slice(label), text.slice(0, end)];
  return variants
    .map((variant, i) => ({ at: i < 2 ? at + label : at, text: variant }))
    .filter(
      (variant, i, all) => isTelling(variant.text) && all.findIndex((other) => other.text === variant.text) === i,
    );
}
