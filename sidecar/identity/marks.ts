import type { CanonicalMessage } from '../apis/api.js';
import { digest } from './trail.js';

/**
 * Marks: what an answer is known by wherever it turns up, whatever stands before it. One that calls tools is known by the id of
 * its first call, any other by its beginning, whose length is the largest of HEADS that it fills.
 */
const HEADS = [1024, 512, 256, 128, 64, 32];
/** An answer from this length on, or one with an id, is its program's own, whatever it was given to. */
const ALONE_CHARS_MIN = 64;
/** Shorter ids count up (`call_0`), and are in every program. */
const ID_CHARS_MIN = 9;
/** Ids as clients print tool calls into text: JSON or Python. */
const PRINTED_ID = /["']id["']: ?["']([^"'\\]{9,128})["']/g;
/** Roles as clients print a conversation into one message (aider, LangChain). */
const PRINTED_ROLE = /^(?:ASSISTANT|AI): /gm;
/** Printed answers that are looked at, and the longest text in which they are looked for. */
const PRINTED_MAX = 16;
const PRINTED_CHARS_MAX = 131_072;

/** What tells an answer from others with the same mark. */
export interface Told {
  /** Of its canonical content. */
  readonly hash: string;
  readonly chars: number;
}

/** @returns undefined for an answer too short to be known by itself. */
export function markOf({ content, callIds }: CanonicalMessage): string | undefined {
  const id = callIds?.split('\u0000', 1)[0];
  if (id !== undefined) return id.length < ID_CHARS_MIN ? undefined : `i${id}`;
  const head = HEADS.find((chars) => chars <= content.length);
  return head === undefined ? undefined : headMark(content.slice(0, head));
}

/** The marks that a message may have: its own, those of calls printed into its text, of answers that it goes on from. */
export function* marksOf(said: CanonicalMessage): Generator<string> {
  if (said.callIds !== undefined) {
    const mark = markOf(said);
    if (mark !== undefined) yield mark;
    return;
  }
  const { content } = said;
  for (const head of HEADS) if (head <= content.length) yield headMark(content.slice(0, head));
  for (const [, id] of printed(content, PRINTED_ID)) yield `i${id}`;
}

/** The texts in a message that begin with an answer: conversations printed into one message. */
export function* quotesIn(content: string): Generator<string> {
  for (const { index, 0: role } of printed(content, PRINTED_ROLE)) yield content.slice(index + role.length);
}

/** Whether a message is the answer, or begins with it. */
export const beginsWith = ({ content }: CanonicalMessage, { hash, chars }: Told): boolean =>
  content.length >= chars && digest(content.length === chars ? content : content.slice(0, chars)) === hash;

/** Whether the mark in a message is that of the answer. An id in a text needs no further proof: it was printed there. */
export const bears = (said: CanonicalMessage, mark: string, told: Told): boolean =>
  (mark.startsWith('i') && said.callIds === undefined) || beginsWith(said, told);

export const standsAlone = (mark: string, { chars }: Told): boolean => mark.startsWith('i') || chars >= ALONE_CHARS_MIN;

const headMark = (head: string): string => `h${digest(head)}`;

/** The last matches. */
const printed = (content: string, pattern: RegExp): RegExpExecArray[] =>
  content.length > PRINTED_CHARS_MAX ? [] : [...content.matchAll(pattern)].slice(-PRINTED_MAX);
