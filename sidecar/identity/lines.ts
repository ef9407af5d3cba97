import type { CanonicalMessage } from '../apis/api.js';
import { hashOf, hashOfUnits, unitsOf } from './growing.js';

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

/** A line of a text. */
export interface Line {
  readonly at: number;
  readonly end: number;
  readonly hash: number;
}

/** A message with its lines. */
export interface Text {
  readonly role: string;
  readonly content: string;
  readonly lines: readonly Line[];
}

export const textOf = ({ role, content }: CanonicalMessage): Text => ({ role, content, lines: linesIn(content) });

/** Lines of a message, in order, each also without what a client has printed around it. */
export function linesIn(content: string): Line[] {
  if (content.length > TEXT_CHARS_MAX) return [];
  const spans = spansOf(content, CHARS_MIN);
  if (spans.length > FIRST_MAX + LAST_MAX) spans.splice(FIRST_MAX, spans.length - FIRST_MAX - LAST_MAX);
  if (spans.length === 0) return [];
  const lines: Line[] = [];
  const units = unitsOf(content);
  for (const { at, end } of spans) {
    lines.push({ at, end, hash: lineHash(units, at, end) });
    const label = mayBeLabelled(units, at, end) ? (LABEL.exec(content.slice(at, end))?.[0].length ?? 0) : 0;
    const closing = units[end - 1] === CLOSE ? CLOSING.exec(content.slice(at, end))?.index : undefined;
    if (label === 0 && closing === undefined) continue;
    for (const from of label > 0 ? [at + label, at] : [at])
      for (const to of closing === undefined ? [end] : [at + closing, end])
        if (to - from >= CHARS_MIN && to - from < end - at)
          lines.push({ at: from, end: to, hash: lineHash(units, from, to) });
  }
  return lines;
}

const COLON = 0x3a;
const OPEN = 0x3c;
const CLOSE = 0x3e;
/** Most characters of white space before a label, and of the label before its colon. */
const LABEL_CHARS_MAX = 42;
const WORD = /[\w[\] -]/;
const IS_WORD = Uint8Array.from({ length: 128 }, (_, code) => Number(WORD.test(String.fromCharCode(code))));

/** Whether `LABEL` may match here. */
function mayBeLabelled(units: Uint16Array, at: number, end: number): boolean {
  let until = Math.min(end, at + LABEL_CHARS_MAX);
  let i = at;
  while (i < until && (units[i] ?? 0) <= 32) i++;
  until = Math.min(end, i + LABEL_CHARS_MAX);
  while (i < until && IS_WORD[units[i] ?? 0] === 1) i++;
  const code = i < end ? (units[i] ?? 0) : 0;
  return code === COLON || code === OPEN || code >= 128;
}

/** The line that leads to a text: its longest but the first one. Set phrases stand there, and labels before it. */
export function leadOf(text: string): Line | undefined {
  if (text.length > TEXT_CHARS_MAX) return undefined;
  let lead: Span | undefined;
  for (const span of spansOf(text, LEAD_CHARS_MIN))
    if (!lead || lead.at === 0 || span.end - span.at > lead.end - lead.at) lead = span;
  return lead && { at: lead.at, end: lead.end, hash: hashOf(text, lead.at, lead.end) | 0 };
}

/** 32 bits, which V8 stores unboxed. What a line leads to is compared as a whole. */
const lineHash = (units: Uint16Array, at: number, end: number): number => hashOfUnits(units, at, end) | 0;

interface Span {
  readonly at: number;
  readonly end: number;
}

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
