import { GatewayError } from '../errors.js';
import type { AnswerFacts, Api, CanonicalMessage, JsonObject, RequestFacts, SseEvent, StreamReader } from './api.js';
import { canonicalMessage, LazyTurn, nothingSaid, readContent } from './canonical.js';
import {
  checkContent,
  isAbsent,
  isFailure,
  isObject,
  objectOf,
  parseObject,
  readFlag,
  readMessages,
  readModel,
  readWhole,
  stringOf,
} from './fields.js';
import { Kept, countOf, usageOf } from './usage.js';
import { whole, promptBytes } from './prompt.js';

export const messages: Api = {
  kind: 'messages',
  list: 'messages',
  readRequest: readMessagesRequest,

  readAnswer(answer): AnswerFacts {
    const said = nothingSaid();
    readContent(answer['content'], said);
    return {
      usageObject: answer,
      message: canonicalMessage('assistant', said),
      usage: anthropicUsage(objectOf(answer['usage'])),
    };
  },

  readStream: (_facts, wantsMessage) => new MessageReader(wantsMessage),
  isError: ({ type, error }) =>
    type === 'error' && isObject(error) && KNOWN_TYPES.has(error['type']) && typeof error['message'] === 'string',
  errorBody: anthropicErrorBody,
  idHeader: 'request-id',
  errorEvent: (error, requestId) => `event: error\ndata: ${JSON.stringify(anthropicErrorBody(error, requestId))}\n\n`,
};

/** Anthropic's counting of tokens. It has no conversation, or it would take the place of the call that it precedes. */
export const countTokens: Api = {
  ...messages,
  kind: 'count_tokens',
  readRequest: (body) => ({ ...readMessagesRequest(body), stream: false, maxTokens: 0, conversation: () => [] }),
  readAnswer: () => ({}),
};

function readMessagesRequest(body: JsonObject): RequestFacts {
  const list = readMessages(body);
  checkContent(body['system'], 'system');
  checkNoThread(body);
  return {
    model: readModel(body),
    stream: readFlag(body, 'stream'),
    promptBytes: promptBytes(body['system'], list, body['tools']),
    maxTokens: readWhole(body, 'max_tokens', 1),
    conversation: () => [
      new LazyTurn('system', { content: body['system'] }, canonicalTurn),
      ...list.map((message) => new LazyTurn(stringOf(message['role']), message, canonicalTurn)),
    ],
  };
}

/** Refuses a conversation held by the server, which engines ignore. Anthropic's SDKs then send whole ones. */
function checkNoThread(body: JsonObject): void {
  if (isAbsent(body['thread'])) return;
  const text = 'Message threads are not held here: send the whole conversation without `thread`.';
  throw new GatewayError('thread_unsupported', text, { param: 'thread' });
}

function canonicalTurn(message: JsonObject, role: string): CanonicalMessage {
  const said = nothingSaid();
  readContent(whole(message)['content'], said);
  return canonicalMessage(role, said);
}

/** Anthropic counts tokens read from and written to its cache separately; the prompt is the sum of the three. */
function anthropicUsage(usage: JsonObject): AnswerFacts['usage'] {
  const input = countOf(usage['input_tokens']);
  if (input === undefined) return undefined;
  const read = countOf(usage['cache_read_input_tokens']);
  const written = countOf(usage['cache_creation_input_tokens']) ?? 0;
  return usageOf(input + (read ?? 0) + written, usage['output_tokens'], read);
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Engines have names of their own, such as `BadRequestError`, which its clients do not know. */
const KNOWN_TYPES = new Set<unknown>([...Object.values(ERROR_TYPES), 'billing_error']);

/** Its clients have no code for it: they test for these words. */
const TOO_LONG = /prompt is too long/i;

function anthropicErrorBody(error: GatewayError, requestId?: string): JsonObject {
  const given = error.detail.names?.type ?? '';
  const byStatus = ERROR_TYPES[error.status] ?? ERROR_TYPES[error.status < 500 ? 400 : 500];
  const type = KNOWN_TYPES.has(given) ? given : byStatus;
  const isTooLong = error.code === 'context_length_exceeded' && !TOO_LONG.test(error.message);
  // Anthropic's SDKs act on it.
  const details = error.code === 'thread_unsupported' && { error_code: 'thread_unsupported_request' };
  return {
    type: 'error',
    error: { type, message: `${isTooLong ? 'prompt is too long: ' : ''}${error.message}`, ...(details && { details }) },
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** Events that are always read; the others, only if the text is wanted. */
const FEW = new Set(['message_start', 'message_delta', 'message_stop', 'error']);

class MessageReader implements StreamReader {
  complete = false;
  failed = false;
  readonly #kept: Kept;
  #usage: Record<string, number> = {};
  #usageObject: JsonObject | undefined;
  readonly #text: string[] = [];
  /** By the index of their content block, with the pieces of their input. */
  readonly #calls = new Map<unknown, { name: string; id: string; input: unknown; pieces: string[] }>();

  constructor(wantsMessage: boolean) {
    this.#kept = new Kept(wantsMessage);
  }

  push(event: SseEvent): 'forward' | 'hide' {
    const name = event.event ?? /^\s*\{\s*"type"\s*:\s*"(\w+)"/.exec(event.data)?.[1];
    if (name === undefined || FEW.has(name) || this.#kept.wanted) return this.#read(parseObject(event.data) ?? {});
    return 'forward';
  }

  facts(): AnswerFacts {
    const isWhole = this.#kept.wanted && this.complete;
    const message = isWhole ? this.#message() : undefined;
    return { usage: anthropicUsage(this.#usage), usageObject: this.#usageObject, message };
  }

  #message(): CanonicalMessage {
    const calls = [...this.#calls.values()].map(({ name, id, input, pieces }) => {
      return { name, id, arguments: pieces.length > 0 ? pieces.join('') : input };
    });
    return canonicalMessage('assistant', { text: this.#text, calls });
  }

  #read(data: JsonObject): 'forward' | 'hide' {
    const { type, index } = data;
    if (isFailure(data)) {
      this.failed ||= !this.complete;
      return 'hide';
    }
    if (type === 'content_block_delta') this.#readDelta(index, objectOf(data['delta']));
    else if (type === 'content_block_start') this.#readBlock(index, objectOf(data['content_block']));
    else if (type === 'message_start') this.#readUsage(objectOf(data['message']));
    else if (type === 'message_delta') this.#readUsage(data);
    else if (type === 'message_stop') this.complete = true;
    return 'forward';
  }

  /** Counts only grow during a stream, and servers send zeros for unknown counts, so the largest value holds. */
  #readUsage(holder: JsonObject): void {
    const usage = objectOf(holder['usage']);
    for (const field of Object.keys(usage)) {
      const count = countOf(usage[field]);
      if (count !== undefined) this.#usage[field] = Math.max(count, this.#usage[field] ?? 0);
    }
    if (holder['usage'] !== undefined) this.#usageObject = holder;
  }

  #readBlock(index: unknown, block: JsonObject): void {
    if (block['type'] === 'tool_use') {
      const [name, id] = [stringOf(block['name']), stringOf(block['id'])];
      if (this.#kept.wanted) this.#calls.set(index, { name, id, input: block['input'], pieces: [] });
    } else if (block['type'] === 'text') this.#kept.keep(this.#text, stringOf(block['text']));
  }

  #readDelta(index: unknown, delta: JsonObject): void {
    const call = this.#calls.get(index);
    if (delta['type'] === 'text_delta') this.#kept.keep(this.#text, stringOf(delta['text']));
    else if (delta['type'] === 'input_json_delta' && call)
      this.#kept.keep(call.pieces, stringOf(delta['partial_json']));
  }
}
