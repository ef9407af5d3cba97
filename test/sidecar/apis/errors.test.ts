import { describe, expect, it } from 'vitest';
import { refusalError } from '../../../sidecar/calls/endings.js';
import { GatewayError, type ErrorCode } from '../../../sidecar/errors.js';
import { callId, millis, type Reject } from '../../../src/index.js';
import { api, chat, completions, embeddings, messages, responses } from './api.js';

describe('errors', () => {
  const error = (code: ErrorCode) => new GatewayError(code, 'text', { param: 'p' });

  it('has the OpenAI shape', () => {
    for (const each of [chat, completions, responses, embeddings]) {
      expect(each.errorBody(error('queue_full'))).toEqual({
        error: { message: 'text', type: 'rate_limit_error', param: 'p', code: 'queue_full' },
      });
    }
    expect(chat.errorBody(new GatewayError('internal', 'x'))).toMatchObject({ error: { param: null } });
    expect(chat.errorEvent(error('engine_failed'), 'r1')).toMatch(/^data: \{"error":\{.*\}\}\n\n$/);
  });

  it.each<[ErrorCode, string]>([
    ['invalid_body', 'invalid_request_error'],
    ['unauthorized', 'authentication_error'],
    ['forbidden', 'permission_error'],
    ['unknown_model', 'not_found_error'],
    ['queue_timeout', 'timeout_error'],
    ['body_too_large', 'request_too_large'],
    ['unsupported_media_type', 'invalid_request_error'],
    ['queue_full', 'rate_limit_error'],
    ['internal', 'api_error'],
    ['engine_failed', 'api_error'],
    ['draining', 'overloaded_error'],
    ['engine_timeout', 'timeout_error'],
  ])('has Anthropic’s shape and type: %s is %s', (code, type) => {
    const expected = { type: 'error', error: { type, message: 'text' } };
    expect(messages.errorBody(error(code))).toEqual(expected);
    expect(api('/v1/messages/count_tokens').errorBody(error(code))).toEqual(expected);
    expect(messages.errorEvent(error(code), 'r1')).toBe(
      `event: error\ndata: ${JSON.stringify({ ...expected, request_id: 'r1' })}\n\n`,
    );
  });

  it.each<[Reject['refusal'], number | undefined, number]>([
    ['queue_full', undefined, 1],
    ['overloaded', 90_500, 90.5],
    ['overloaded', 10, 1],
    ['queue_timeout', undefined, 1],
    ['no_engine', 9000, 2],
  ])('say when to ask again, the scheduler’s own time first: %s, %s', (refusal, afterMs, seconds) => {
    const retry = afterMs === undefined ? {} : { retryAfterMs: millis(afterMs) };
    const reject: Reject = { type: 'reject', call: callId('c'), refusal, ...retry };
    expect(refusalError(reject, undefined, { list: () => [] })).toMatchObject({
      code: refusal,
      retryAfterSeconds: seconds,
    });
  });

  // The tool runners of Anthropic's SDKs use threads by default, and engines ignore them. So every call after the first
  // came without its history and its tools, as a program of its own. This refusal makes them send everything.
  it.each(['/v1/messages', '/v1/messages/count_tokens'])('refuses message threads as the SDKs know it: %s', (path) => {
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
    const read = (thread: unknown) => () => api(path).readRequest({ ...body, thread });
    expect(read(null)).not.toThrow();
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }, 'x']) {
      expect(read(thread)).toThrow(expect.objectContaining({ code: 'thread_unsupported', status: 400 }));
    }
    expect(api(path).errorBody(error('thread_unsupported'))).toMatchObject({
      error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request' } },
    });
  });
});
