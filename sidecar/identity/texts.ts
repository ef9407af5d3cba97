import type { TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { hashOf } from './growing.js';
import type { Ends, Excerpt } from './memory.js';
import { Seats, type Left } from './seats.js';

/** Shortest and longest line that is read. Shorter ones are common, longer ones take long to hash. */
const CHARS_MIN = 16;
const CHARS_MAX = 8192;
/** Shortest line that leads to a text. */
const LEAD_CHARS_MIN = 24;
/** Lines of a message that are read, the first and the last ones, and the longest message. */
const FIRST_MAX = 32;
const LAST_MAX = 96;
const TEXT_CHARS_MAX = 131_072;
/** Labels and tags that clients print before the first line of a text, and after its last one. */
const LABEL = /^\s{0,40}(?:<[^<>]{1,200}>|\[?\w[\w -]{0,39}\]?:)\s{0,40}/;
const CLOSING = /<\/[\w:-]{1,40}>\s{0,40}$/;

export interface Line {
  readonly at: number;
  readonly end: number;
  readonly hash: number;
}

export interface Text extends Pick<CanonicalMessage, 'role' | 'content'> {
  readonly lines: readonly Line[];
}

export const textOf = ({ role, content }: CanonicalMessage): Text => ({ role, content, lines: linesIn(content) });

/** Lines of a message, in order, each also without what a client has printed around it. */
export function linesIn(content: string): Line[] {
  if (content.length > TEXT_CHARS_MAX) return [];
  const spans = spansOf(content, CHARS_MIN);
  if (spans.length > FIRST_MAX + LAST_MAX) spans.splice(FIRST_MAX, spans.length - FIRST_MAX - LAST_MAX);
  return spans.flatMap(({ at, end }) => {
    const line = content.slice(at, end);
    const label = LABEL.exec(line)?.[0].length ?? 0;
    const closing = line.endsWith('>') ? CLOSING.exec(line)?.index : undefined;
    const lines = [lineOf(content, at, end)];
    if (label === 0 && closing === undefined) return lines;
    for (const from of label > 0 ? [at + label, at] : [at])
      for (const to of closing === undefined ? [end] : [at + closing, end])
        if (to - from >= CHARS_MIN && to - from < end - at) lines.push(lineOf(content, from, to));
    return lines;
  });
}

/** The line that leads to a text: its longest but the first one. Set phrases stand there, and labels before it. */
export function leadOf(text: string): Line | undefined {
  if (text.length > TEXT_CHARS_MAX) return undefined;
  let lead: Span | undefined;
  for (const span of spansOf(text, LEAD_CHARS_MIN))
    if (!lead || lead.at === 0 || span.end - span.at > lead.end - lead.at) lead = span;
  return lead && lineOf(text, lead.at, lead.end);
}

/** Its hash has 32 bits, which V8 stores unboxed. What a line leads to is compared as a whole. */
const lineOf = (text: string, at: number, end: number): Line => ({ at, end, hash: hashOf(text, at, end) | 0 });

type Span = Omit<Line, 'hash'>;

function spansOf(text: string, min: number): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    if (end - at >= min && end - at <= CHARS_MAX) spans.push({ at, end });
    at = end + 1;
  }
  return spans;
}

/** Texts remembered under one line, the latest ones. */
const PER_LINE = 64;
/** Most texts to compare in one message, and characters of them. */
const COMPARED_MAX = 128;
const COMPARED_CHARS_MAX = 524_288;

/**
 * Texts that may come back whole inside a message. Each is found by one of its lines (`leadOf`), and counts only if all of
 * it is there. At most `max` texts are remembered; the least recently used lines are dropped first.
 */
export class Excerpts<E extends Excerpt & Left> extends Seats<E> {
  constructor(max: number, ends: Ends) {
    super(max, PER_LINE, ends);
  }

  /** The texts in a message, without those within longer ones. @param lines its lines, see `linesIn` */
  in(tenant: TenantId, content: string, lines: readonly Line[]): E[] {
    const found = this.led(tenant, lines).filter(({ excerpt: { chars, hash }, start }) => {
      const end = start + chars;
      return start >= 0 && end <= content.length && hashOf(content, start, end) === hash;
    });
    return outer(found).map(({ excerpt }) => excerpt);
  }

  /** The texts to which lines of a message lead, with their beginnings there. */
  led(tenant: TenantId, lines: readonly Line[]): Led<E>[] {
    const led: Led<E>[] = [];
    let chars = 0;
    for (const { at, hash } of lines)
      for (const excerpt of this.at(tenant, hash) ?? []) {
        if (led.length === COMPARED_MAX || (chars += excerpt.chars) > COMPARED_CHARS_MAX) return led;
        led.push({ excerpt, start: at - excerpt.at });
      }
    return led;
  }
}

interface Led<E> {
  readonly excerpt: E;
  readonly start: number;
}

const outer = <E extends Excerpt>(found: readonly Led<E>[]): readonly Led<E>[] =>
  found.filter(({ excerpt: { chars }, start }) =>
    found.every(
      (other) =>
        other.excerpt.chars <= chars || other.start > start || other.start + other.excerpt.chars < start + chars,
    ),
  );
