import type { z } from 'zod';
import { checkValue, pathText, type Path } from '../config/index.js';
import { GatewayError } from '../errors.js';

/**
 * A value from a client's JSON, checked by a schema.
 * @param at the value's own path in the body
 * @throws GatewayError `invalid_body` with the first bad field
 */
export function checked<T extends z.ZodType>(schema: T, value: unknown, at: Path = []): z.output<T> {
  const { data, problems } = checkValue(schema, value);
  const [problem] = problems;
  if (problem === undefined) return data as z.output<T>;
  const param = pathText([...at, ...problem.path]);
  throw new GatewayError('invalid_body', sentenceOf(param, problem.message), param === '' ? {} : { param });
}

/** @param param path of the bad field; '': the whole value */
export const sentenceOf = (param: string, message: string): string =>
  `${param === '' ? 'The request body' : `'${param}'`} ${message}.`.replace(/\?\.$/, '?');
