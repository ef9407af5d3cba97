import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { findReferences, isReference, ITEM, problem, type BatchLine, type Problem } from '../../plans/index.js';
import type { JsonObject } from '../apis/api.js';
import { isObject, parseJson } from '../apis/fields.js';
import { SCHEDULED } from '../apis/index.js';
import { checkValue, pathText } from '../config/index.js';
import { GatewayError, reasonOf } from '../errors.js';
import { sentenceOf } from '../http/checked.js';

const ID_CHARS_MAX = 512;
/** Most items unless the line says so, and at all. */
const ITEMS_MAX = 100;
const ITEMS_LIMIT = 10_000;

/** Path of an API that lines may ask. */
export const path = z.enum([...SCHEDULED.keys()]);

const source = { $ref: z.string(), path: z.string().optional() };

const Line = z.strictObject({
  custom_id: z.string().min(1).max(ID_CHARS_MAX),
  method: z.literal('POST'),
  url: path,
  body: z.looseObject({
    model: z.string().trim().min(1),
    stream: z
      .boolean()
      .refine((is) => !is, { error: 'must be false or absent, because a batch keeps whole answers' })
      .nullish(),
  }),
  after: z.array(z.string()).default([]),
  each: z
    .union(
      [
        z.string().transform(($ref) => ({ $ref, path: undefined, max: ITEMS_MAX })),
        z.strictObject({ ...source, max: z.number().int().min(1).max(ITEMS_LIMIT).default(ITEMS_MAX) }),
      ],
      { error: `must be a custom_id, or have a $ref and at most a path and a max of 1 to ${ITEMS_LIMIT}` },
    )
    .optional(),
  if: z
    .strictObject({
      ...source,
      equals: z.union([z.string(), z.number(), z.boolean(), z.null()], { error: 'must be a single value' }).optional(),
      contains: z.string().optional(),
      not: z.boolean().optional(),
    })
    .refine(({ equals, contains }) => (equals === undefined) !== (contains === undefined), {
      error: 'must have either equals or contains',
    })
    .optional(),
});

/** Values that pass all checks. */
const GOOD: JsonObject = { messages: [{ role: 'user' }], prompt: '', input: '' };

/**
 * Why the body would be refused once it is sent, a fault for each field. A reference passes, as its value is not known yet.
 * @param tried the body with texts for references, and good values for faulty fields
 */
function refusalsOf(url: unknown, body: JsonObject, tried: JsonObject, number: number): Problem[] {
  try {
    SCHEDULED.get(String(url))?.readRequest(tried);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { param = '' } = error.detail;
    const path = param.match(/[^.[\]]+/g) ?? [];
    const [field = ''] = path;
    if (tried[field] === GOOD[field]) return [];
    const value = path.reduce<unknown>((at, key) => (at as JsonObject | undefined)?.[key], body);
    const others = refusalsOf(url, body, { ...tried, [field]: GOOD[field] }, number);
    if (isObject(value) && isReference(value)) return others;
    const message = error.message.replace(`'${param}'`, `'body.${param}'`);
    return [problem('invalid_request', message, number, `body.${param}`), ...others];
  }
}

/** The body with a text in the place of each reference. */
const withTexts = (body: unknown): JsonObject =>
  JSON.parse(
    JSON.stringify(body, (_, value: unknown) => (isObject(value) && isReference(value) ? '' : value)),
  ) as JsonObject;

/** A line of a batch's file, or its faults. @param number from 1 */
export function parseLine(bytes: Buffer, number: number): BatchLine | readonly Problem[] {
  const invalid = (what: string) => [problem('invalid_json_line', `The line is not ${what}.`, number)];
  if (!isUtf8(bytes)) return invalid('UTF-8');
  // The file's first line may begin with a byte-order mark.
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString().replace(/^\uFEFF/, ''));
  } catch (error) {
    return invalid(`valid JSON: ${jsonFault(error)}`);
  }
  if (!isObject(value)) return invalid('a JSON object');
  const { data, problems } = checkValue(Line, value);
  const body = value['body'] as BatchLine['body'];
  const referenced: string[] = [];
  const fault = findReferences(body, referenced);
  const wrong = fault === undefined ? problems : [...problems, { path: ['body'], message: fault }];
  const faults = wrong.map(({ path, message }) => {
    const param = pathText(path);
    return problem('invalid_request', sentenceOf(param, message), number, param);
  });
  if (fault === undefined && isObject(body)) {
    const known = referenced.length === 0 ? body : withTexts(body);
    faults.push(...refusalsOf(value['url'], body, { ...known, model: 'any', stream: false }, number));
  }
  if (data === undefined || faults.length > 0) return faults;
  const { custom_id: customId, url, after, each, if: condition } = data;
  const needs = new Set([...after, ...referenced]);
  if (each !== undefined) needs.delete(ITEM);
  for (const given of [each, condition]) if (given !== undefined) needs.add(given.$ref);
  const inserted = new Set(each === undefined ? after : [...after, ITEM]);
  return { customId, url, body, after: inserted, needs: [...needs], each, condition };
}

/** Why none of a file's lines can be read, as one of the first shows. @param isCut whether the line goes on */
export function strangeFile(line: Buffer, isCut: boolean): string | undefined {
  if (line.includes(0) || !(isCut || isUtf8(line))) return 'The file is not text in UTF-8, as JSON lines are.';
  const start = line
    .toString()
    .replace(/^\uFEFF/, '')
    .trim();
  if (start.startsWith('['))
    return "The file is a JSON array. It must have one object a line: jq -c '.[]' makes that of it.";
  return start === '{'
    ? 'An object takes several lines. It must have a line of its own: jq -c . makes that of it.'
    : undefined;
}

/** The parser's reason, with the column in the place of its position, if it has one. */
const jsonFault = (error: unknown): string =>
  reasonOf(error)
    .replace(/ is not valid JSON$/, '')
    .replace(
      / (in|after) JSON at position (\d+).*/,
      (_, where, at) => ` at column ${Number(at) + 1}${where === 'after' ? ': newline missing?' : ''}`,
    );

/** The id of a line that may not be readable. Its characters may be escaped; a longer one is none, and would overflow V8's stack. */
export function idIn(bytes: Buffer): string | undefined {
  const [, text] = /"custom_id"\s*:\s*("(?:[^"\\]|\\.){1,3072}")/.exec(bytes.toString()) ?? [];
  const id = parseJson(text);
  return typeof id === 'string' ? id : undefined;
}
