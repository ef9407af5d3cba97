import type { CanonicalMessage } from '../apis/api.js';
import { hashOf } from './growing.js';

/**
 * Marks identify an answer wherever it appears, after any other messages: its whole content, and the id of its first tool
 * call.
 */
/** Shorter answers have no mark but an id. */
const CHARS_MIN = 32;
/**
 * Length from which an answer identifies its program on its own, whichever message it answered. Answers with an id
 * always do.
 */
const ALONE_CHARS_MIN = 64;
/** Shorter ids are counters (`call_0`), which every program has. */
const ID_CHARS_MIN = 9;
/** No engine makes longer ids, and they would be stored. */
const ID_CHARS_MAX = 128;
/** Ids in tool calls that clients print as text: JSON, Python or XML. */
const PRINTED_ID = /\bid["']?(?:: ?|=)["']([^"'\\]{9,128})["']/g;
/** The same, without the copy of the pattern that `matchAll` makes. */
const HAS_PRINTED_ID = new RegExp(PRINTED_ID.source);
/** Counted ids (`functions.bash:0`), which every program has. */
const COUNTED = /[:_]\d{1,4}$/;
/** Most printed ids to check, and the longest text to search for them. */
const PRINTED_MAX = 16;
const PRINTED_CHARS_MAX = 131_072;

/** Distinguishes an answer from others with the same mark. */
export interface Told {
  /** Hash of its canonical content. */
  readonly hash: number;
  readonly chars: number;
}

/** The mark of a whole answer; `undefined` for a short one. */
export function wholeOf({ content }: CanonicalMessage): number | undefined {
  if (content.length < CHARS_MIN) return undefined;
  if (!content.startsWith('\u0000')) return looseHash(content, 0);
  // Some clients send back nothing but the arguments of the one tool.
  const at = content.indexOf('\u0000', 1) + 1;
  return looseHash(content, content.includes('\u0000', at) ? 0 : at);
}

export function idOf({ callIds }: CanonicalMessage): string | undefined {
  if (callIds === undefined) return undefined;
  const end = callIds.indexOf('\u0000');
  const id = end < 0 ? callIds : callIds.slice(0, end);
  return id.length < ID_CHARS_MIN || id.length > ID_CHARS_MAX ? undefined : `i${id}`;
}

/** The last ids printed in a text. */
export const printedIds = (content: string): string[] =>
  content.length > PRINTED_CHARS_MAX || !HAS_PRINTED_ID.test(content)
    ? []
    : [...content.matchAll(PRINTED_ID)]
        .map(([, id = '']) => id)
        .filter((id) => !COUNTED.test(id))
        .slice(-PRINTED_MAX)
        .map((id) => `i${id}`);

/** Whether a message equals the answer, or begins with it. */
export const beginsWith = ({ content }: CanonicalMessage, { hash, chars }: Told): boolean =>
  content.length >= chars && hashOf(content, 0, chars) === hash;

export const standsAlone = ({ chars }: Pick<Told, 'chars'>): boolean => chars >= ALONE_CHARS_MIN;

/** Classes of ASCII characters in a text that a client may re-print. */
const [KEPT, SKIPPED, SEPARATING] = [0, 1, 2];
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) =>
  code <= 32 || `"'\\`.includes(String.fromCharCode(code))
    ? SKIPPED
    : ',{}[]'.includes(String.fromCharCode(code))
      ? SEPARATING
      : KEPT,
);
const SEED_LOW = 0xdeadbeef;
const SEED_HIGH = 0x41c6ce57;

/**
 * 53 bits of a text without its white space, quotes and escapes, its parts between commas and brackets in any order:
 * clients re-print JSON, and sort its keys. No tenant reads another's marks, so a collision harms only its author.
 */
function looseHash(text: string, from: number): number {
  let low = SEED_LOW;
  let high = SEED_HIGH;
  let sumLow = 0;
  let sumHigh = 0;
  for (let i = from; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 44;
    const kind = code < 128 ? CLASSES[code] : KEPT;
    if (kind === SKIPPED) continue;
    if (kind === SEPARATING) {
      low = Math.imul(low ^ (high >>> 15), 0x735a2d97);
      high = Math.imul(high ^ (low >>> 15), 0x0b36534f);
      sumLow = (sumLow + (low ^ (low >>> 16))) | 0;
      sumHigh = (sumHigh + (high ^ (high >>> 16))) | 0;
      low = SEED_LOW;
      high = SEED_HIGH;
    } else {
      low = Math.imul(low ^ code, 0x9e3779b1);
      high = Math.imul(high ^ code, 0x5f356495);
    }
  }
  return (sumHigh & 0x1fffff) * 0x1_0000_0000 + (sumLow >>> 0);
}
