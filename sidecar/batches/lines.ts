import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { findReferences, isReference, ITEM, problem, type BatchLine, type Problem } from '../../plans/index.js';
import { isAbsent, isObject, objectOf, parseJson } from '../apis/fields.js';
import { SCHEDULED } from '../apis/index.js';
import { checkValue, pathText } from '../config/index.js';
import { reasonOf } from '../errors.js';
import { sentenceOf } from '../http/checked.js';

const ID_CHARS_MAX = 512;
/** Most items unless the line says so, and at all. */
const ITEMS_MAX = 100;
const ITEMS_LIMIT = 10_000;

/** Limits of an answer's tokens. */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
const SCORING = '/v1/completions';

/** Path of an API that lines may ask. */
export const path = z.enum([...SCHEDULED.keys()]);

const source = { $ref: z.string(), path: z.string().optional() };

const Line = z.strictObject({
  custom_id: z.string().min(1).max(ID_CHARS_MAX),
  method: z.literal('POST'),
  url: path,
  body: z.looseObject({
    model: z.string().min(1),
    stream: z.boolean().refine((is) => !is, { error: 'must be false or absent, because a batch keeps whole answers' }).nullish(), // prettier-ignore
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

/** Whether it may limit tokens: as a reference too, and as -1, llama.cpp's for none. */
const isLimit = (value: unknown, least: number): boolean =>
  isAbsent(value) || value === -1 || (isObject(value) && isReference(value)) || (Number.isSafeInteger(value) && (value as number) >= least); // prettier-ignore

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
  const faults = [
    ...problems,
    ...(fault === undefined ? [] : [{ path: ['body'], message: fault }]),
    ...LIMITS.filter((name) => !isLimit(objectOf(body)[name], value['url'] === SCORING ? 0 : 1)).map((name) => ({
      path: ['body', name],
      message: 'must be a positive whole number',
    })),
  ];
  if (data === undefined || faults.length > 0)
    return faults.map(({ path, message }) => {
      const param = pathText(path);
      return problem('invalid_request', sentenceOf(param, message), number, param);
    });
  const { custom_id: customId, url, after, each, if: condition } = data;
  const needs = new Set([...after, ...referenced]);
  if (each !== undefined) needs.delete(ITEM);
  for (const given of [each, condition]) if (given !== undefined) needs.add(given.$ref);
  const inserted = new Set(each === undefined ? after : [...after, ITEM]);
  return { customId, url, body, after: inserted, needs: [...needs], each, condition };
}

/** The parser's reason, with the column in the place of its position, if it has one. */
const jsonFault = (error: unknown): string =>
  reasonOf(error)
    .replace(/ is not valid JSON$/, '')
    .replace(/ in JSON at position (\d+).*/, (_, at) => ` at column ${Number(at) + 1}`);

/** The id of a line that may not be readable. Its characters may be escaped; a longer one is none, and would overflow V8's stack. */
export function idIn(bytes: Buffer): string | undefined {
  const [, text] = /"custom_id"\s*:\s*("(?:[^"\\]|\\.){1,3072}")/.exec(bytes.toString()) ?? [];
  const id = parseJson(text);
  return typeof id === 'string' ? id : undefined;
}
