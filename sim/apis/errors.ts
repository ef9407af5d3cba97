/** A refusal on its way to the client; each API gives it its own shape. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The body field at fault. */
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

/** A path that does not exist, or not with this method. */
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
export function openaiError(error: ApiError): object {
  return { error: { message: error.message, type: typeOf(error), param: error.param, code: error.status } };
}

/** Anthropic's shape, with vLLM's own names. */
export function anthropicError(error: ApiError): object {
  return { type: 'error', error: { type: typeOf(error), message: error.message } };
}

function typeOf({ status }: ApiError): string {
  return TYPES[status] ?? 'APIError';
}
