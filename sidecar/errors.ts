/**
 * All errors that the gateway itself answers with: code, status, OpenAI type. One table; tests check codes, never
 * texts. 499 is never sent, because the client is gone; it appears in logs and metrics.
 * A client should ask again after these seconds: for a drained gateway another one may be there by then, and the place
 * of a call that has waited too long is kept.
 */
export const ERRORS = {
  invalid_json: { status: 400, type: 'invalid_request_error' },
  invalid_body: { status: 400, type: 'invalid_request_error' },
  invalid_path: { status: 400, type: 'invalid_request_error' },
  missing_body: { status: 400, type: 'invalid_request_error' },
  bad_request: { status: 400, type: 'invalid_request_error' },
  body_too_complex: { status: 400, type: 'invalid_request_error' },
  upgrade_unsupported: { status: 400, type: 'invalid_request_error' },
  thread_unsupported: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  budget_exceeded: { status: 403, type: 'insufficient_quota' },
  path_not_allowed: { status: 403, type: 'permission_error' },
  unknown_model: { status: 404, type: 'invalid_request_error' },
  unknown_path: { status: 404, type: 'invalid_request_error' },
  unknown_response: { status: 404, type: 'invalid_request_error' },
  unknown_program: { status: 404, type: 'invalid_request_error' },
  unknown_file: { status: 404, type: 'invalid_request_error' },
  unknown_batch: { status: 404, type: 'invalid_request_error' },
  unknown_engine: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'timeout_error' },
  queue_timeout: { status: 408, type: 'timeout_error', retryAfterSeconds: 1 },
  files_full: { status: 409, type: 'invalid_request_error' },
  batches_full: { status: 409, type: 'invalid_request_error' },
  file_in_use: { status: 409, type: 'invalid_request_error' },
  batch_ended: { status: 409, type: 'invalid_request_error' },
  engine_exists: { status: 409, type: 'invalid_request_error' },
  last_engine: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  expectation_failed: { status: 417, type: 'invalid_request_error' },
  not_an_engine: { status: 422, type: 'invalid_request_error' },
  queue_full: { status: 429, type: 'rate_limit_error', retryAfterSeconds: 1 },
  overloaded: { status: 429, type: 'rate_limit_error', retryAfterSeconds: 1 },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  client_gone: { status: 499, type: 'client_closed_request' },
  internal: { status: 500, type: 'server_error' },
  engine_failed: { status: 502, type: 'server_error' },
  engine_answer_invalid: { status: 502, type: 'server_error' },
  engine_answer_too_large: { status: 502, type: 'server_error' },
  batches_moving: { status: 503, type: 'server_error', retryAfterSeconds: 5 },
  bodies_full: { status: 503, type: 'server_error', retryAfterSeconds: 5 },
  no_engine: { status: 503, type: 'server_error', retryAfterSeconds: 2 },
  watchers_full: { status: 503, type: 'server_error' },
  draining: { status: 503, type: 'server_error', retryAfterSeconds: 5 },
  engine_timeout: { status: 504, type: 'server_error' },
  storage_full: { status: 507, type: 'server_error' },
} as const satisfies Record<string, { status: number; type: string; retryAfterSeconds?: number }>;

export type ErrorCode = keyof typeof ERRORS;

export { PLAIN, reasonOf } from '../text/index.js';

/** An error of the table, with a message for the client and, if known, the invalid request field. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly detail: {
      readonly param?: string;
      readonly retryAfterSeconds?: number;
      /** Of an engine's refusal, in the place of the table's, and the names that the engine gave it. */
      readonly status?: number;
      readonly names?: { readonly type?: string; readonly code?: string; readonly param?: string };
    } = {},
  ) {
    super(message);
  }

  get status(): number {
    return this.detail.status ?? ERRORS[this.code].status;
  }

  get retryAfterSeconds(): number | undefined {
    const known: { readonly status: number; readonly retryAfterSeconds?: number } = ERRORS[this.code];
    return this.detail.retryAfterSeconds ?? known.retryAfterSeconds;
  }
}
