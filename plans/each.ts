import { textOf, valueAt } from './references.js';

/** The answer whose items a line is made of: a call for each. */
export interface Each {
  readonly $ref: string;
  /** Place of the list, or of its text; absent: the whole text. */
  readonly path?: string;
  /** Most items. */
  readonly max: number;
}

/** Name of the item in the line's body. */
export const ITEM = 'item';
/** Most items unless the line says so, and at all. */
const ITEMS_MAX = 100;
const ITEMS_LIMIT = 10_000;

/** An answer that is no list, or too long a one. */
export class BadItems extends Error {
  override readonly name = 'BadItems';
}

/** The list that `each` states; a text: why it is wrong. */
export function eachOf(value: unknown): Each | string {
  if (typeof value === 'string') return { $ref: value, max: ITEMS_MAX };
  if (typeof value !== 'object' || value === null) return 'must name a line';
  const { $ref, path, max = ITEMS_MAX, ...others } = value as Record<string, unknown>;
  if (typeof $ref !== 'string' || (path !== undefined && typeof path !== 'string') || Object.keys(others).length > 0)
    return 'must be a custom_id, or have a $ref and at most a path and a max';
  if (!Number.isInteger(max) || (max as number) < 1 || (max as number) > ITEMS_LIMIT)
    return `has a max that is not 1 to ${ITEMS_LIMIT}`;
  return { $ref, max: max as number, ...(path !== undefined && { path }) };
}

/**
 * The items of an answer: of a JSON array, else the lines of its text that are not empty.
 * @throws BadItems, MissingAnswer
 */
export function itemsOf(answer: unknown, { $ref, path, max }: Each): readonly unknown[] {
  const value = path !== undefined ? valueAt(answer, { $ref, path }) : Array.isArray(answer) ? answer : textOf(answer);
  const items = typeof value === 'string' ? itemsIn(value) : value;
  if (!Array.isArray(items)) throw new BadItems(`The answer of "${$ref}" is no list: neither a JSON array nor lines.`);
  if (items.length > max) throw new BadItems(`The answer of "${$ref}" has ${items.length} items, more than ${max}.`);
  return items;
}

/** Undefined: JSON that is no array. Models like to fence JSON as code. */
function itemsIn(text: string): unknown {
  const bare = text.trim().replace(/^```\w*\n([^]*?)\n?```$/, '$1');
  if (!/^[[{]/.test(bare)) return bare.split('\n').map((line) => line.trim()).filter((line) => line !== ''); // prettier-ignore
  try {
    return JSON.parse(bare) as unknown;
  } catch {
    return undefined;
  }
}
