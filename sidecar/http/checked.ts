import type { z } from 'zod';
import { pathText, problemsOf, type Path } from '../config/index.js';
import { GatewayError } from '../errors.js';

/**
 * A value from a client's JSON, checked by a schema.
 * @param at the value's own path in the body
 * @throws GatewayError `invalid_body` with the first bad field
 */
export function checked<T extends z.ZodType>(schema: T, value: unknown, at: Path = []): z.output<T> {
  const { data, error } = schema.safeParse(value, { reportInput: true });
  if (error === undefined) return data;
  const [problem] = problemsOf(error.issues, () => []);
  const param = pathText([...at, ...(problem?.path ?? [])]);
  const subject = param === '' ? 'The request body' : `'${param}'`;
  const message = `${subject} ${problem?.message}.`.replace(/\?\.$/, '?');
  throw new GatewayError('invalid_body', message, param === '' ? {} : { param });
}
