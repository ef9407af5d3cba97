import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import { tokens, type Work } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import { GatewayError } from '../errors.js';
import { withoutField } from '../http/splice.js';
import { valueOf } from '../identity/harnesses.js';
import { checked } from './checked.js';
import { TOKENS_MAX, fieldSchema, remainingSchema } from './schema.js';

type Remaining = z.output<typeof remainingSchema>;

const FIELD = 'maitred';
const REMAINING = 'x-maitred-remaining';
const WORKFLOW = 'x-maitred-workflow';
const NODE = 'x-maitred-node';

/** A read body, so far as it matters here. */
interface Read {
  readonly raw: Buffer;
  readonly body: JsonObject;
  readonly keys: ReadonlySet<string>;
}

/** The words of one call about its program's work. */
export interface Declaration {
  readonly remaining?: Remaining | undefined;
  readonly workflow?: string | undefined;
  readonly node?: string | undefined;
}

/**
 * Reads a call's declaration from its body field `maitred` and its headers, and takes the field out of the body: strict
 * engines refuse unknown fields. Each part of the field goes before its header, because a client writes a body for one
 * call, and often sets headers for all.
 * @throws GatewayError `invalid_body`, `bad_request` for a malformed declaration
 */
export function readDeclaration(
  headers: IncomingHttpHeaders,
  read: Read,
): Pick<Read, 'raw' | 'keys'> & { readonly declaration?: Declaration } {
  const [rest, workflow, node] = [REMAINING, WORKFLOW, NODE].map((name) => valueOf(headers, name));
  const { raw, body, keys } = read;
  const hasField = keys.has(FIELD);
  if (!hasField && [rest, workflow, node].every((value) => value === undefined)) return read;
  const field = hasField ? readField(body[FIELD]) : {};
  const ofWork = {
    remaining: field.remaining ?? (rest === undefined ? undefined : readHeader(rest)),
    workflow: field.workflow ?? workflow,
    node: field.node ?? node,
  };
  const isOfWork = Object.values(ofWork).some((value) => value !== undefined);
  const told = isOfWork ? { declaration: ofWork } : {};
  if (!hasField) return { raw, keys, ...told };
  const others = new Set(keys);
  others.delete(FIELD);
  return { raw: withoutField(raw, FIELD), keys: others, ...told };
}

/** The body without the field of declarations, for requests that declare nothing. */
export const undeclared = ({ raw, keys }: Pick<Read, 'raw' | 'keys'>): Buffer =>
  keys.has(FIELD) ? withoutField(raw, FIELD) : raw;

export const workOf = ({ promptTokens, outputTokens }: Remaining): Work => ({
  promptTokens: tokens(promptTokens),
  outputTokens: tokens(outputTokens),
});

function readField(value: unknown): z.output<typeof fieldSchema> {
  if (value === null) return {};
  // Of large bodies only short fields are read.
  if (value === undefined) throw new GatewayError('invalid_body', `'${FIELD}' is too long.`, { param: FIELD });
  return checked(fieldSchema, value, [FIELD]);
}

/** `prompt=1200, output=300`, and optionally `calls=4`: a dictionary of RFC 8941 with whole numbers. */
function readHeader(text: string): Remaining {
  const given = new Map<string, number>();
  for (const member of text.split(',')) {
    const [, key = '', digits] = /^\s*(prompt|output|calls)=(\d{1,10})\s*$/.exec(member) ?? [];
    if (digits === undefined || given.has(key)) throw badHeader();
    given.set(key, Number(digits));
  }
  const [calls, promptTokens, outputTokens] = ['calls', 'prompt', 'output'].map((key) => given.get(key));
  const { data } = remainingSchema.safeParse({ calls, promptTokens, outputTokens });
  if (data === undefined) throw badHeader();
  return data;
}

function badHeader(): GatewayError {
  const expected = `'prompt=N, output=N', with whole numbers up to ${TOKENS_MAX}`;
  return new GatewayError('bad_request', `The header ${REMAINING} must be ${expected}.`, { param: REMAINING });
}
