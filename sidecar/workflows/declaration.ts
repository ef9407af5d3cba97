import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { tokens, type Work } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import { count } from '../config/note.js';
import { GatewayError } from '../errors.js';
import { withoutField } from '../http/splice.js';
import { valueOf } from '../identity/harnesses.js';
import { checked } from './checked.js';

/** Bounds of declared work: far above any program, far below the loss of a token in a sum. */
const CALLS_MAX = 1e6;
const TOKENS_MAX = 1e9;

/** The rest of a program. `calls` is for the client's own records; engine time follows from the tokens. */
const remainingSchema = z.strictObject({
  calls: count(0, CALLS_MAX).optional(),
  promptTokens: count(0, TOKENS_MAX),
  outputTokens: count(0, TOKENS_MAX),
});

/** The body of `POST /programs/{id}/hint`. */
export const hintSchema = z.strictObject({ remaining: remainingSchema });

const FIELD = 'maitred';
const HEADER = 'x-maitred-remaining';
const FIELD_SCHEMA = z.strictObject({ remaining: remainingSchema.optional() });

/** Parts of a read body that matter here. */
interface Read {
  readonly raw: Buffer;
  readonly body: JsonObject;
  readonly keys: ReadonlySet<string>;
}

/** A client's words about its program, and the body without them. */
interface Declared extends Pick<Read, 'raw' | 'keys'> {
  /** Work of the rest of the program, this call included. */
  readonly remaining?: Work;
}

/**
 * Reads a call's declaration from its body field `maitred` and its headers. The body goes first: a client writes it for
 * one call, and sets headers for many. Engines do not get the field, as strict ones refuse unknown fields.
 * @throws GatewayError `invalid_body`, `bad_request` for a malformed declaration
 */
export function readDeclared(headers: IncomingHttpHeaders, { raw, body, keys }: Read): Declared {
  const header = valueOf(headers, HEADER);
  if (header === undefined && !keys.has(FIELD)) return { raw, keys };
  const { remaining = header === undefined ? undefined : readHeader(header) } = fieldOf(body, keys);
  const rest = new Set(keys);
  return {
    raw: rest.delete(FIELD) ? withoutField(raw, FIELD) : raw,
    keys: rest,
    ...(remaining !== undefined && { remaining: workOf(remaining) }),
  };
}

export const workOf = ({ promptTokens, outputTokens }: z.output<typeof remainingSchema>): Work => ({
  promptTokens: tokens(promptTokens),
  outputTokens: tokens(outputTokens),
});

function fieldOf(body: JsonObject, keys: ReadonlySet<string>): z.output<typeof FIELD_SCHEMA> {
  const field = body[FIELD];
  if (field === null || !keys.has(FIELD)) return {};
  // Of large bodies only short fields are read.
  if (field === undefined) throw new GatewayError('invalid_body', `'${FIELD}' is too long.`, { param: FIELD });
  return checked(FIELD_SCHEMA, field, [FIELD]);
}

/** `prompt=1200, output=300`, and optionally `calls=4`: a dictionary of RFC 8941 with whole numbers. */
function readHeader(text: string): z.output<typeof remainingSchema> {
  const given = new Map<string, number>();
  for (const member of text.split(',')) {
    const [, key = '', digits] = /^\s*(prompt|output|calls)=(\d{1,10})\s*$/.exec(member) ?? [];
    if (digits === undefined || given.has(key)) throw badHeader();
    given.set(key, Number(digits));
  }
  const { data } = remainingSchema.safeParse({
    calls: given.get('calls'),
    promptTokens: given.get('prompt'),
    outputTokens: given.get('output'),
  });
  if (data === undefined) throw badHeader();
  return data;
}

function badHeader(): GatewayError {
  const expected = `'prompt=N, output=N', with whole numbers up to ${TOKENS_MAX}`;
  return new GatewayError('bad_request', `The header ${HEADER} must be ${expected}.`, { param: HEADER });
}
