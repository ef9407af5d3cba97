import { ERRORS } from '../errors.js';
import type { GatewayError } from '../errors.js';
import type { AnswerFacts, CanonicalMessage, JsonObject, RequestFacts, SseEvent, StreamReader } from './api.js';
import { canonicalMessage } from './canonical.js';
import { isObject, listOf, objectOf, readStreamOptions, stringOf } from './fields.js';
import { openaiUsage } from './usage.js';

/** What chat, completions and embeddings share: the error object, the usage switch and the stream of chunks. */

export function openaiErrorBody(error: GatewayError): JsonObject {
  const { type } = ERRORS[error.code];
  return { error: { message: error.message, type, param: error.detail.param ?? null, code: error.code } };
}

export function openaiErrorEvent(error: GatewayError): string {
  return `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`;
}

/** Asks for the usage chunk. `continuous_usage_stats` does nothing without it, so it must not wake up with it. */
export function openaiUsageFields(body: JsonObject): JsonObject {
  const options = readStreamOptions(body);
  if (body['stream'] !== true || options['include_usage'] === true) return {};
  const { continuous_usage_stats, ...rest } = options;
  const quiet = continuous_usage_stats === undefined ? {} : { continuous_usage_stats: false };
  return { stream_options: { ...rest, ...quiet, include_usage: true } };
}

/** `undefined` for anything but a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Text of an answer kept for history matching; a longer one is not remembered. */
export const MESSAGE_CHARS_MAX = 4_194_304;

/** Marks of the few chunks worth parsing when the text is not wanted. Escaped quotes keep them from matching prose. */
const TELLING = /"(?:usage|error)"\s*:\s*[{"]|"(?:finish_reason|name)"\s*:\s*"/;

interface CallSoFar {
  name: string;
  readonly arguments: string[];
}

export class ChunkReader implements StreamReader {
  complete = false;
  failed = false;
  readonly #facts: RequestFacts;
  readonly #finished = new Set<unknown>();
  readonly #text: string[] = [];
  readonly #calls: CallSoFar[] = [];
  readonly #tools: string[] = [];
  #wantsMessage: boolean;
  #chars = 0;
  #usageObject: JsonObject | undefined;

  constructor(facts: RequestFacts, wantsMessage: boolean) {
    this.#facts = facts;
    this.#wantsMessage = wantsMessage;
  }

  push(event: SseEvent): 'forward' | 'hide' {
    if (event.data.trim() === '[DONE]') this.complete = true;
    else if (this.#wantsMessage || TELLING.test(event.data)) return this.#read(parseObject(event.data) ?? {});
    return 'forward';
  }

  facts(): AnswerFacts {
    const usage = openaiUsage(this.#usageObject?.['usage']);
    return {
      ...(usage ? { usage } : {}),
      ...(this.#usageObject ? { usageObject: this.#usageObject } : {}),
      ...(this.#wantsMessage && this.complete && !this.failed ? { message: this.#message() } : {}),
      tools: this.#tools,
    };
  }

  #message(): CanonicalMessage {
    const calls = this.#calls.map((call) => ({ name: call.name, arguments: call.arguments.join('') }));
    return canonicalMessage('assistant', { text: this.#text, calls });
  }

  #read(chunk: JsonObject): 'forward' | 'hide' {
    if (chunk['error'] !== undefined && chunk['error'] !== null) this.failed = this.complete = true;
    const choices = listOf(chunk['choices']);
    for (const choice of choices) this.#readChoice(objectOf(choice));
    if (!isObject(chunk['usage'])) return 'forward';
    this.#usageObject = chunk;
    // Only the chunk that we asked for holds usage and no choice; elsewhere usage rides on what the client must see.
    return Array.isArray(chunk['choices']) && choices.length === 0 && !this.#facts.wantsUsage ? 'hide' : 'forward';
  }

  #readChoice(choice: JsonObject): void {
    if (typeof choice['finish_reason'] === 'string') {
      // Some servers send no [DONE]: an answer is also whole when each of its choices has said why it ended.
      this.#finished.add(choice['index']);
      if (this.#finished.size >= this.#facts.choices) this.complete = true;
    }
    const delta = objectOf(choice['delta']);
    const first = (choice['index'] ?? 0) === 0;
    if (first) this.#keep(this.#text, stringOf(delta['content']));
    for (const call of listOf(delta['tool_calls'])) this.#readCall(objectOf(call), first);
    if (isObject(delta['function_call'])) this.#readCall({ index: 0, function: delta['function_call'] }, first);
  }

  #readCall(delta: JsonObject, first: boolean): void {
    const called = objectOf(delta['function'] ?? delta['custom']);
    const name = stringOf(called['name']);
    if (name !== '') this.#tools.push(name);
    if (!first || !this.#wantsMessage) return;
    const index = typeof delta['index'] === 'number' ? delta['index'] : this.#calls.length - (name === '' ? 1 : 0);
    if (!Number.isInteger(index) || index < 0 || index > this.#calls.length) return;
    const call = (this.#calls[index] ??= { name: '', arguments: [] });
    call.name ||= name;
    this.#keep(call.arguments, stringOf(called['arguments'] ?? called['input']));
  }

  #keep(pieces: string[], piece: string): void {
    if (!this.#wantsMessage || piece === '') return;
    this.#chars += piece.length;
    if (this.#chars > MESSAGE_CHARS_MAX) this.#wantsMessage = false;
    else pieces.push(piece);
  }
}
