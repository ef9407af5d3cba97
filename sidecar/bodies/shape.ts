import { GatewayError } from '../errors.js';
import { stringEnd } from '../http/json-string.js';

/** What a JSON text will cost to parse, but for its length. */
export interface Shape {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number;
  /** Keys, objects and arrays: what makes parsing slow, and its result many times as large as its text. */
  readonly nodes: number;
  /** Keys of the outermost object. */
  readonly fields: number;
}

export interface ShapeLimits {
  readonly bodyDepthMax: number;
  readonly bodyNodesMax: number;
}

/** Fields of a body; no API has a hundredth of them. */
const FIELDS_MAX = 4096;

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** One pass over the bytes. Right for JSON, and harmless for anything else. */
export function shapeOf(raw: Buffer): Shape {
  let depth = 0;
  let deepest = 0;
  let nodes = 0;
  let fields = 0;
  for (let i = 0; i < raw.length; i++) {
    const byte = raw[i];
    if (byte === QUOTE) i = stringEnd(raw, i) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      nodes++;
      if (++depth > deepest) deepest = depth;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    else if (byte === COLON) {
      nodes++;
      if (depth === 1) fields++;
    }
  }
  return { depth: deepest, nodes, fields };
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
