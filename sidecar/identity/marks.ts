import type { CanonicalMessage } from '../apis/api.js';
import { digest } from './trail.js';

/**
 * Marks identify an answer wherever it appears, after any other messages. The mark of an answer with tool calls is the id
 * of the first one. Any other answer is marked by its beginning, of the largest length in HEADS that it fills.
 */
const HEADS = [1024, 512, 256, 128, 64, 32];
/**
 * Length from which an answer identifies its program on its own, whichever message it answered. Answers with an id
 * always do.
 */
const ALONE_CHARS_MIN = 64;
/** Shorter ids are counters (`call_0`), which every program has. */
const ID_CHARS_MIN = 9;
/** No engine makes longer ids, and they would be stored. */
const ID_CHARS_MAX = 128;
/** Ids in tool calls that clients print as text: JSON or Python. */
const PRINTED_ID = /["']id["']: ?["']([^"'\\]{9,128})["']/g;
/** Roles in a conversation that clients print as one message (aider, LangChain). */
const PRINTED_ROLE = /^(?:ASSISTANT|AI): /gm;
/** Most printed answers to check, and the longest text to search for them. */
const PRINTED_MAX = 16;
const PRINTED_CHARS_MAX = 131_072;

/** Distinguishes an answer from others with the same mark. */
export interface Told {
  /** Hash of its canonical content. */
  readonly hash: string;
  readonly chars: number;
}

/** @returns undefined for an answer too short to identify a program */
export function markOf({ content, callIds }: CanonicalMessage): string | undefined {
  const id = callIds?.split('\u0000', 1)[0];
  if (id !== undefined) return id.length < ID_CHARS_MIN || id.length > ID_CHARS_MAX ? undefined : `i${id}`;
  const head = HEADS.find((chars) => chars <= content.length);
  return head === undefined ? undefined : headMark(content.slice(0, head));
}

/**
 * All possible marks of a message: its own, those of calls printed in its text, and those of answers that it extends.
 */
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

/** Texts in a message that begin with an answer, for conversations printed as one message. */
export function* quotesIn(content: string): Generator<string> {
  for (const { index, 0: role } of printed(content, PRINTED_ROLE)) yield content.slice(index + role.length);
}

/** Whether a message equals the answer, or begins with it. */
export const beginsWith = ({ content }: CanonicalMessage, { hash, chars }: Told): boolean =>
  content.length >= chars && digest(content.length === chars ? content : content.slice(0, chars)) === hash;

/** Whether the mark in a message is that of the answer. An id printed in a text needs no further proof. */
export const bears = (said: CanonicalMessage, mark: string, told: Told): boolean =>
  (mark.startsWith('i') && said.callIds === undefined) || beginsWith(said, told);

export const standsAlone = (mark: string, { chars }: Told): boolean => mark.startsWith('i') || chars >= ALONE_CHARS_MIN;

const headMark = (head: string): string => `h${digest(head)}`;

/** The last matches of the pattern. */
const printed = (content: string, pattern: RegExp): RegExpExecArray[] =>
  content.length > PRINTED_CHARS_MAX ? [] : [...content.matchAll(pattern)].slice(-PRINTED_MAX);
