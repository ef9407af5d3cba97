import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { tokens, type ForecastView } from '../../src/index.js';
import type { ReadBody } from '../bodies/read.js';
import { countSchema } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { checked } from '../http/checked.js';
import { withoutField } from '../http/splice.js';
import { valueOf } from '../identity/claims.js';
import { cleanId } from '../identity/names.js';
import { badHeader, readNumbers } from './client-headers.js';

const FIELD = 'maitred';
const REMAINING = 'x-maitred-remaining';
const WORKFLOW = 'x-maitred-workflow';
/** Far above any program, far below the loss of a token in a sum. */
const TOKENS_MAX = 1e9;
const NAME_CHARS_MAX = 256;

/** The rest of a program. `calls` is for the client's own records; engine time follows from the tokens. */
const remainingSchema = z.strictObject({
  calls: countSchema(0, TOKENS_MAX).optional(),
  promptTokens: countSchema(0, TOKENS_MAX),
  outputTokens: countSchema(0, TOKENS_MAX),
});

const fieldSchema = z.strictObject({ remaining: remainingSchema.optional(), workflow: z.string().optional() });

/**
 * Reads a call's declaration from its body field `maitred` and its headers, and takes the field out of the body: strict
 * engines refuse unknown fields. The field goes before headers, which clients often set for all of their calls.
 * @throws GatewayError `invalid_body`, `bad_request` for a malformed declaration
 */
export function readDeclaration(
  headers: IncomingHttpHeaders,
  { raw, body, keys }: Pick<ReadBody, 'raw' | 'body' | 'keys'>,
) {
  const field = keys.has(FIELD) ? readField(body[FIELD]) : {};
  const rest = field.remaining ?? readHeader(valueOf(headers, REMAINING));
  return {
    raw: undeclared({ raw, keys }),
    keys: keys.has(FIELD) ? new Set([...keys].filter((key) => key !== FIELD)) : keys,
    /** The work that is left, this call included; undefined: not declared. */
    remaining: rest && { promptTokens: tokens(rest.promptTokens), outputTokens: tokens(rest.outputTokens) },
    /** The client's own name of such programs; undefined: none. */
    workflow: shortened(field.workflow ?? valueOf(headers, WORKFLOW)),
  };
}

/** The body without the field of declarations, for requests that declare nothing. */
export const undeclared = ({ raw, keys }: Pick<ReadBody, 'raw' | 'keys'>): Buffer =>
  keys.has(FIELD) ? withoutField(raw, FIELD) : raw;

/** Value of `x-maitred-forecast`: the forecast's source and length. @param forecast undefined: nothing is foreseen */
export function forecastHeader(forecast: ForecastView | undefined): string {
  if (forecast === undefined) return 'none';
  const { source, used, remainingMs } = forecast;
  const rest = Number.isFinite(remainingMs) ? [`remaining-ms=${Math.round(remainingMs)}`] : [];
  return [source, ...(used ? [] : ['unused']), ...rest].join('; ');
}

/** A name is kept with each program, so it is no longer than an id. */
const shortened = (name: string | undefined): string | undefined =>
  name !== undefined && name.length > NAME_CHARS_MAX ? cleanId(name) : name?.trim() || undefined;

function readField(value: unknown): z.output<typeof fieldSchema> {
  if (value === null) return {};
  // Of large bodies only short fields are read.
  if (value === undefined) throw new GatewayError('invalid_body', `'${FIELD}' is too long.`, { param: FIELD });
  return checked(fieldSchema, value, [FIELD]);
}

/** `prompt=1200, output=300`, and optionally `calls=4`. */
function readHeader(text: string | undefined): z.output<typeof remainingSchema> | undefined {
  if (text === undefined) return undefined;
  const form = `'prompt=N, output=N', with whole numbers up to ${TOKENS_MAX}`;
  const { prompt, output } = readNumbers(REMAINING, text, ['prompt', 'output', 'calls'], [0, TOKENS_MAX], form);
  if (prompt !== undefined && output !== undefined) return { promptTokens: prompt, outputTokens: output };
  throw badHeader(REMAINING, `The header ${REMAINING} must be ${form}.`);
}
