import { GatewayError } from '../errors.js';
import { stringEnd } from '../http/splice.js';

/** Properties that determine the cost of parsing a JSON text, besides its length. */
interface Shape {
  readonly depth: number;
  /** Number of keys, objects and arrays. They make parsing slow, and its result many times larger than its text. */
  readonly nodes: number;
  /** Keys of the outermost object. */
  readonly fields: number;
}

export interface ShapeLimits {
  readonly bodyDepthMax: number;
  readonly bodyNodesMax: number;
}

/** The list of messages in a body. */
export interface List {
  /** Index after its bracket. */
  readonly start: number;
  /** Fields up to its own. */
  readonly fields: number;
  readonly items: readonly Span[];
}

/** An object of the list, with the body's nodes and depth up to its end. */
export interface Span extends Omit<Shape, 'fields'> {
  readonly start: number;
  readonly end: number;
}

/** Most fields of a body; no API uses a hundredth of them. */
const FIELDS_MAX = 4096;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Scans the bytes once. Correct for JSON, and harmless for anything else.
 * @param name field of the list to look for; undefined: none
 * @param known objects at the beginning of that list, after which the scan begins
 * @returns with the list; undefined: there is none, or more than one
 */
export function skeletonOf(raw: Buffer, name?: string, known?: List): Shape & { readonly list: List | undefined } {
  const last = known?.items.at(-1);
  let { depth: deepest, nodes } = last ?? { depth: 0, nodes: 0 };
  let fields = known?.fields ?? 0;
  let depth = known === undefined ? 0 : 2;
  let list = known && { ...known, items: [...known.items] };
  let isInList = known !== undefined;
  let isNamed = false;
  let isTold = true;
  let [keyStart, keyEnd, start] = [0, 0, 0];
  for (let i = last?.end ?? 0; i < raw.length; i++) {
    const byte = raw[i];
    if (byte === QUOTE) {
      const end = stringEnd(raw, i);
      if (depth === 1) [keyStart, keyEnd] = [i + 1, end - 1];
      i = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      nodes++;
      if (++depth > deepest) deepest = depth;
      if (isInList && depth === 3) start = i;
      else if (depth === 2) {
        isInList = isNamed && byte === OPEN_ARRAY;
        if (isInList) {
          isTold &&= list === undefined;
          list = { start: i + 1, fields, items: [] };
        }
      }
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--;
      if (!isInList) continue;
      if (depth === 2) list?.items.push({ start, end: i + 1, nodes, depth: deepest });
      else if (depth === 1) isInList = false;
    } else if (byte === COLON) {
      nodes++;
      if (depth !== 1) continue;
      fields++;
      if (name === undefined) continue;
      isNamed = keyEnd - keyStart === name.length && raw.toString('latin1', keyStart, keyEnd) === name;
      // An escaped name may be the same one, and the last of equal names counts.
      isTold &&= !(isNamed && list !== undefined) && !raw.subarray(keyStart, keyEnd).includes(BACKSLASH);
    }
  }
  return { depth: deepest, nodes, fields, list: isTold ? list : undefined };
}

/** @throws GatewayError `body_too_complex` */
export function checkShape({ depth, nodes, fields }: Shape, { bodyDepthMax, bodyNodesMax }: ShapeLimits): void {
  const refuse = (what: string, max: number): never => {
    throw new GatewayError('body_too_complex', `The request body has ${what}; at most ${max} are read.`);
  };
  if (depth > bodyDepthMax) refuse(`${depth} levels of nesting`, bodyDepthMax);
  if (nodes > bodyNodesMax) refuse(`${nodes} keys, objects and arrays`, bodyNodesMax);
  if (fields > FIELDS_MAX) refuse(`${fields} fields`, FIELDS_MAX);
}
