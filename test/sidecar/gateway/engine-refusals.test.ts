import { describe, expect, it } from 'vitest';
import { apiFor } from '../../../sidecar/apis/index.js';
import { unstreamable } from '../../../sidecar/calls/endings.js';
import { namesOf, quoteOf, secretsOf } from '../../../sidecar/calls/refusal.js';

const eventOf = (path: string, status: number, said: object, secrets: readonly string[] = []): unknown => {
  const body = Buffer.from(JSON.stringify(said));
  const event = apiFor(path)!.errorEvent(unstreamable(status, quoteOf(body, secrets), namesOf(body, secrets)));
  return JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '');
};

describe('a refusal of an engine in a stream that comments have opened', () => {
  const tooLong = {
    message: 'maximum context length is 9',
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  };

  it('keeps the engine’s message, type, code and parameter', () => {
    expect(eventOf('/v1/chat/completions', 400, { error: tooLong })).toEqual({ error: tooLong });
    const failed = { response: { error: { code: 'context_length_exceeded', message: tooLong.message } } };
    expect(eventOf('/v1/responses', 400, { error: tooLong })).toMatchObject(failed);
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Later.' } };
    expect(eventOf('/v1/messages', 529, overloaded)).toEqual(overloaded);
  });

  it.each([
    [429, 'rate_limit_error', 'overloaded', 'rate_limit_error'],
    [503, 'server_error', 'no_engine', 'overloaded_error'],
    [529, 'server_error', 'no_engine', 'overloaded_error'],
    [422, 'invalid_request_error', 'bad_request', 'invalid_request_error'],
  ])('has the names of its status if it has none: %i', (status, type, code, claude) => {
    const message = 'No.';
    expect(eventOf('/v1/chat/completions', status, { error: { message } })).toEqual({
      error: { message, type, code, param: null },
    });
    expect(eventOf('/v1/messages', status, { error: { message } })).toEqual({
      type: 'error',
      error: { type: claude, message },
    });
  });

  it('says its status if it has no words, and no secret if it has', () => {
    expect(eventOf('/v1/chat/completions', 400, {})).toMatchObject({
      error: { message: 'The engine refused the request (400).' },
    });
    const error = { message: 'key abcdefgh', type: 'abcdefgh', code: 'of 10.0.0.1:80' };
    expect(JSON.stringify(eventOf('/v1/chat/completions', 400, { error }, ['abcdefgh']))).not.toMatch(/abcdefgh|10\.0/);
  });
});

it('hides a client’s key from 8 characters on: shorter ones are parts of words', () => {
  expect(secretsOf({ authorization: 'Bearer none', 'x-api-key': 'x' })).toEqual([]);
  expect(secretsOf({ authorization: 'Bearer 1234567', 'x-api-key': '12345678' })).toEqual(['12345678']);
});
