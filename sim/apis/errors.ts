/** A refusal on its way to the client; each API gives it its own shape. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The body's field to blame. */
    readonly param: string | null = null,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'RequestEntityTooLargeError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

/** As vLLM answers on all but its Anthropic paths. */
export function openaiError(error: ApiError): object {
  const type = OPENAI_TYPES[error.status] ?? 'APIError';
  return { error: { message: error.message, type, param: error.param, code: error.status } };
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

export function anthropicError(error: ApiError): object {
  const type = ANTHROPIC_TYPES[error.status] ?? 'api_error';
  return { type: 'error', error: { type, message: error.message } };
}
