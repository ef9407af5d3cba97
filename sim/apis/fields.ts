/** A refusal on its way to the client; each API gives it its own shape. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly param: string | null = null,
    readonly headers: Readonly<Record<string, string>> = {},
    /** The whole body of an answer that the server gives itself, before any API is involved. */
    readonly body?: object,
  ) {
    super(message);
  }
}

/** A body that is not JSON, or has a field of the wrong type. The server's framework refuses it alike on all paths. */
export function invalidBody(message: string, field?: string): ApiError {
  const param = field === undefined ? 'body' : `body.${field}`;
  return new ApiError(400, message, param, {}, { error: { message, type: 'Bad Request', param, code: 400 } });
}

export function unknownResponse(id: string): ApiError {
  const message = `Response with id '${id}' not found.`;
  const param = 'response_id';
  return new ApiError(404, message, param, {}, { error: { message, type: 'invalid_request_error', param, code: 404 } });
}

export function noRoute(allowed: readonly string[]): ApiError {
  const [status, detail] = allowed.length > 0 ? [405, 'Method Not Allowed'] : [404, 'Not Found'];
  const headers: Record<string, string> = allowed.length > 0 ? { allow: allowed.join(', ') } : {};
  return new ApiError(status, detail, null, headers, { detail });
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  404: 'NotFoundError',
  413: 'RequestEntityTooLargeError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

/** vLLM's shape on all paths but the Anthropic ones. */
export const openaiError = (error: ApiError): object => ({
  error: { message: error.message, type: typeOf(error), param: error.param, code: error.status },
});

/** Anthropic's shape, with vLLM's own names. */
export const anthropicError = (error: ApiError): object => ({
  type: 'error',
  error: { type: typeOf(error), message: error.message },
});

const typeOf = ({ status }: ApiError): string => TYPES[status] ?? 'APIError';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Readers of body fields: a missing or null field is `undefined`; one of the wrong type is a 400 that names it. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function object(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw invalidBody(`${name}: an object is expected`, name);
  return value;
}

export function array(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidBody(`${name}: a list is expected`, name);
  return value;
}

export function string(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw invalidBody(`${name}: a string is expected`, name);
  return value;
}

export function boolean(body: JsonObject, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw invalidBody(`${name}: a boolean is expected`, name);
  return value;
}

export function integer(
  body: JsonObject,
  name: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw invalidBody(`${name}: an integer is expected`, name);
  if (value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new ApiError(400, `'${name}' must be a whole number ${range}.`, name);
  }
  return value;
}

/** Refuses sampling fields of the wrong type, as a real server would. The engine model itself ignores them. */
export function checkSampling(body: JsonObject): void {
  for (const [name, min, max] of [
    ['temperature', 0, 2],
    ['top_p', 0, 1],
    ['frequency_penalty', -2, 2],
    ['presence_penalty', -2, 2],
  ] as const) {
    const value = body[name] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== 'number') throw invalidBody(`${name}: a number is expected`, name);
    if (!(value >= min && value <= max)) {
      throw new ApiError(400, `${name}: a number from ${min} to ${max} is expected`, name);
    }
  }
}
