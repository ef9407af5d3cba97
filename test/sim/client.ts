import { request as httpRequest } from 'node:http';
import { createParser } from 'eventsource-parser';
import { cleanUp } from '../support/clean-up.js';
import { startEngine, type EngineHandle, type EngineOptions } from '../../sim/index.js';

export type Json = Record<string, unknown>;
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: Json | '[DONE]';
}

/** An engine that the end of the test closes; fast unless asked otherwise. */
export async function engine(options: EngineOptions = {}): Promise<EngineHandle> {
  const handle = await startEngine({ speed: 2000, ...options });
  cleanUp(() => handle.close());
  return handle;
}

export async function call(
  handle: EngineHandle,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(handle.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  let json: Json = {};
  try {
    json = JSON.parse(text) as Json;
  } catch {
    // Not every answer is JSON; those that expect it look into `json`.
  }
  return { status: response.status, headers: response.headers, text, json };
}

export const post = (handle: EngineHandle, path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(handle, 'POST', path, body, headers);

export function eventsOf(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event, data: data === '[DONE]' ? data : (JSON.parse(data) as Json) }),
  });
  parser.feed(text);
  return events;
}

/** Posts with `stream: true`, and gives all events. */
export const stream = async (handle: EngineHandle, path: string, body: Json, headers: Record<string, string> = {}) =>
  eventsOf((await post(handle, path, { ...body, stream: true }, headers)).text);

/** Data of the events that carry JSON. */
export const dataOf = (events: readonly SseEvent[]): Json[] =>
  events.flatMap(({ data }) => (data === '[DONE]' ? [] : [data]));

/** What a raw client sees of one POST: its status, the bytes that came, and how the connection ended. */
export interface RawOutcome {
  status?: number;
  headers?: Record<string, unknown>;
  body: Buffer;
  error?: string;
}

/** Posts, and resolves when the answer has ended in whatever way. `onData` may leave by destroying the request. */
export function rawPost(
  handle: EngineHandle,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  onData: (outcome: RawOutcome, leave: () => void) => void = () => undefined,
): Promise<RawOutcome> {
  return new Promise((resolve) => {
    const outcome: RawOutcome = { body: Buffer.alloc(0) };
    const request = httpRequest(handle.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      agent: false,
    });
    const end = (error?: NodeJS.ErrnoException): void => {
      resolve(error === undefined ? outcome : { ...outcome, error: error.code ?? 'unknown' });
    };
    request.on('error', end);
    request.on('response', (response) => {
      outcome.status = response.statusCode ?? 0;
      outcome.headers = response.headers;
      response.on('data', (chunk: Buffer) => {
        outcome.body = Buffer.concat([outcome.body, chunk]);
        onData(outcome, () => request.destroy());
      });
      response.on('end', () => end());
      response.on('error', end);
    });
    request.end(JSON.stringify(body));
  });
}
