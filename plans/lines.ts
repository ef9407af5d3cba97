import { conditionOf, type Condition } from './condition.js';
import { eachOf, ITEM, type Each } from './each.js';
import { referencedBy, TooDeep } from './references.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A fault of a batch's file, in OpenAI's form. Lines count from 1. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** A line of a batch's file. */
export interface BatchLine {
  readonly customId: string;
  readonly url: string;
  readonly body: JsonObject;
  /** Lines whose texts `${id}` inserts; with `each` also the item. */
  readonly after: ReadonlySet<string>;
  readonly each: Each | undefined;
  readonly condition: Condition | undefined;
  /** All lines whose answers this one needs. */
  readonly needs: readonly string[];
}

const FIELDS = ['custom_id', 'method', 'url', 'body', 'after', 'each', 'if'];
const ID_CHARS_MAX = 512;

export const problem = (code: string, message: string, line: number | null, param: string | null = null): Problem => ({
  code,
  message,
  param,
  line,
});

/** @param urls paths that a line may ask */
export function parseLine(text: string, line: number, urls: ReadonlySet<string>): BatchLine | Problem {
  const wrong = (param: string, message: string): Problem =>
    problem('invalid_request', `'${param}' ${message}.`, line, param);
  const value = parsed(text);
  if (value === undefined) return problem('invalid_json_line', 'The line is not valid JSON.', line);
  if (!isObject(value)) return problem('invalid_json_line', 'The line is not a JSON object.', line);
  const { custom_id: customId, method, url, body, after = [], each: eachGiven, if: ifGiven } = value;
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return wrong(unknown.slice(0, 100), `is no field of a line: it has ${FIELDS.join(', ')}`);
  if (typeof customId !== 'string' || customId === '' || customId.length > ID_CHARS_MAX)
    return wrong('custom_id', `must be a text of 1 to ${ID_CHARS_MAX} characters`);
  if (method !== 'POST') return wrong('method', 'must be POST');
  if (typeof url !== 'string' || !urls.has(url)) return wrong('url', `must be one of ${[...urls].join(', ')}`);
  if (!isObject(body)) return wrong('body', 'must be a JSON object');
  if (typeof body['model'] !== 'string' || body['model'] === '') return wrong('body.model', 'must name a model');
  if (body['stream'] !== undefined && body['stream'] !== null && body['stream'] !== false)
    return wrong('body.stream', 'must be false or absent, because a batch keeps whole answers');
  if (!Array.isArray(after) || !after.every((id) => typeof id === 'string'))
    return wrong('after', 'must be a list of custom_ids');
  const each = eachGiven === undefined ? undefined : eachOf(eachGiven);
  if (typeof each === 'string') return wrong('each', each);
  const condition = ifGiven === undefined ? undefined : conditionOf(ifGiven);
  if (typeof condition === 'string') return wrong('if', condition);
  try {
    const names = new Set([...after, ...referencedBy(body)]);
    const inserted = new Set(after);
    if (each !== undefined) {
      names.delete(ITEM);
      inserted.add(ITEM);
    }
    for (const given of [each, condition]) if (given !== undefined) names.add(given.$ref);
    return { customId, url, body, after: inserted, needs: [...names], each, condition };
  } catch (error) {
    if (error instanceof TooDeep) return wrong('body', error.message);
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    // The file's first line may begin with a byte-order mark.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
