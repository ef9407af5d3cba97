import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Family } from '../../src/index.js';
import { openingOf, promptBytes, type JsonObject } from '../apis/index.js';
import { listOf, objectOf } from '../apis/fields.js';
import type { TokenEstimator } from './tokens.js';

/** Hexadecimal digits of a hash: 32 bits, which an event log can map one to one. */
const DIGITS = 8;
/** Characters of the instructions that programs of one harness have in common. */
const HARNESS_CHARS = 256;
/** Openings whose hashes are remembered: an agent sends its own with every call. */
const OPENINGS_MAX = 1024;
/** Words with a digit, such as dates, versions and ids, and names of days and months. Linear in the text. */
const VARYING =
  /(?<![\w.-])(?:(?=[\w.-]*\d)[\w.-]+|(?:[AP]M|Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:rs(?:day)?)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?![\w-]))/g;

/** The common beginning of a family's prompts. */
export interface Opening {
  /** Equal for the same instructions and tools, with the same model, whatever the date. */
  readonly id: number;
  /** Equal for the same tools, by name, and the same first words. */
  readonly harness: number;
  readonly bytes: number;
}

const hashes = new LRUCache<string, Pick<Opening, 'id' | 'harness'>>({ max: OPENINGS_MAX });

/** Undefined: the prompt's beginning is unlikely to be shared. */
export function readOpening(model: string, body: JsonObject): Opening | undefined {
  const { tools, words } = openingOf(body);
  if (tools.length + words.length === 0) return undefined;
  const schemas = textOf(tools);
  const text = textOf(words);
  if (schemas === undefined || text === undefined) return undefined;
  const exact = hash('sha1', `${model}\0${schemas}\0${text}`, 'base64');
  let known = hashes.get(exact);
  if (known === undefined) {
    // Token ids are words themselves.
    const lasting = typeof listOf(words[0])[0] === 'number' ? text : text.replace(VARYING, '#');
    known = {
      id: numberOf([model, schemas.replace(VARYING, '#'), lasting]),
      harness: numberOf([model, tools.flatMap(listOf).map(nameOf), lasting.slice(0, HARNESS_CHARS)]),
    };
    hashes.set(exact, known);
  }
  return { id: known.id, harness: known.harness, bytes: promptBytes(tools, words) };
}

export function familyOf(model: string, opening: Opening | undefined, estimator: TokenEstimator): Family | undefined {
  if (opening === undefined) return undefined;
  const { id, harness, bytes } = opening;
  return { id, harness, tokens: estimator.estimate(model, bytes) };
}

/** The name of a tool in any API; undefined for one without. */
function nameOf(tool: unknown): unknown {
  const { name, type } = objectOf(tool);
  return name ?? objectOf(objectOf(tool)['function'])['name'] ?? type;
}

const numberOf = (value: unknown): number =>
  Number.parseInt(hash('sha1', JSON.stringify(value), 'hex').slice(0, DIGITS), 16);

/** Undefined if the value nests too deep for the stack. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
