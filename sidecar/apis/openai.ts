import { ERRORS, type GatewayError } from '../errors.js';
import {
  FURTHER_MAX,
  type Api,
  type AnswerFacts,
  type CanonicalMessage,
  type JsonObject,
  type RequestFacts,
  type SseEvent,
  type StreamReader,
} from './api.js';
import { canonicalMessage } from './canonical.js';
import { isFailure, isObject, listOf, objectOf, parseObject, readStreamOptions, stringOf } from './fields.js';
import { Kept, openaiUsage } from './usage.js';

/** The parts that chat, completions and embeddings share. */

function errorBody({ code, message, detail }: GatewayError): JsonObject {
  const { type } = ERRORS[code];
  return { error: { message, type, param: detail.param ?? null, code, ...detail.names } };
}

export const openaiErrors = {
  isError: ({ error }) => isObject(error) && typeof error['message'] === 'string',
  errorBody,
  errorEvent: (error) => `data: ${JSON.stringify(errorBody(error))}\n\n`,
} satisfies Partial<Api>;

/** Asks for the usage chunk. `continuous_usage_stats` has no effect without usage, so asking must not activate it. */
export function openaiUsageFields(body: JsonObject): JsonObject {
  const options = readStreamOptions(body);
  if (body['stream'] !== true || options['include_usage'] === true) return {};
  const quiet = options['continuous_usage_stats'] === undefined ? {} : { continuous_usage_stats: false };
  return { stream_options: { ...quiet, include_usage: true } };
}

/** Marks of the few chunks worth parsing when the text is not wanted. Prose does not match: its quotes are escaped. */
const TELLING = /"(?:usage|error)"\s*:\s*[{"]|"finish_reason"\s*:\s*"/;

interface ChoiceSoFar {
  readonly text: string[];
  /** By the engine's index, in order of their first piece. */
  readonly calls: Map<unknown, { name: string; id: string; readonly arguments: string[] }>;
}

export class ChunkReader implements StreamReader {
  complete = false;
  failed = false;
  readonly #finished = new Set<unknown>();
  /** By the engine's index. */
  readonly #choices = new Map<unknown, ChoiceSoFar>([[0, { text: [], calls: new Map() }]]);
  readonly #kept: Kept;
  #usageObject: JsonObject | undefined;

  constructor(
    private readonly asked: RequestFacts,
    wantsMessage: boolean,
  ) {
    this.#kept = new Kept(wantsMessage);
  }

  push(event: SseEvent): 'forward' | 'hide' {
    if (event.data.trim() === '[DONE]') this.complete = true;
    else if (this.#kept.wanted || TELLING.test(event.data)) return this.#read(parseObject(event.data) ?? {});
    return 'forward';
  }

  facts(): AnswerFacts {
    const isWhole = this.#kept.wanted && this.complete;
    const [message, ...further] = isWhole ? [...this.#choices.values()].map(messageOf) : [];
    const usage = openaiUsage(this.#usageObject?.['usage']);
    return { usage, usageObject: this.#usageObject, message, further };
  }

  #read(chunk: JsonObject): 'forward' | 'hide' {
    if (isFailure(chunk)) {
      this.failed ||= !this.complete;
      return 'hide';
    }
    const choices = listOf(chunk['choices']);
    for (const choice of choices) this.#readChoice(objectOf(choice));
    if (!isObject(chunk['usage'])) return 'forward';
    this.#usageObject = chunk;
    // Only the chunk that we requested has usage and no choice; any other is the client's.
    return Array.isArray(chunk['choices']) && choices.length === 0 && !this.asked.wantsUsage ? 'hide' : 'forward';
  }

  #readChoice(choice: JsonObject): void {
    if (typeof choice['finish_reason'] === 'string') {
      // Some servers send no [DONE]. Then an answer is complete when each of its choices has a finish reason.
      this.#finished.add(choice['index']);
      if (this.#finished.size >= (this.asked.choices ?? 1)) this.complete = true;
    }
    const delta = objectOf(choice['delta']);
    const into = this.#kept.wanted ? this.#choice(choice['index'] ?? 0) : undefined;
    if (!into) return;
    this.#kept.keep(into.text, stringOf(delta['content']));
    for (const call of listOf(delta['tool_calls'])) this.#readCall(objectOf(call), into.calls);
    if (isObject(delta['function_call'])) this.#readCall({ index: 0, function: delta['function_call'] }, into.calls);
  }

  /** The choice with this index; undefined for one too many. */
  #choice(index: unknown): ChoiceSoFar | undefined {
    const known = this.#choices.get(index);
    if (known || this.#choices.size > FURTHER_MAX) return known;
    const choice: ChoiceSoFar = { text: [], calls: new Map() };
    this.#choices.set(index, choice);
    return choice;
  }

  #readCall(delta: JsonObject, calls: ChoiceSoFar['calls']): void {
    const called = objectOf(delta['function'] ?? delta['custom']);
    const name = stringOf(called['name']);
    // Without an index, a name starts a new call, and the following pieces belong to it.
    const index = delta['index'] ?? calls.size - (name === '' ? 1 : 0);
    const call = calls.get(index) ?? { name: '', id: '', arguments: [] };
    calls.set(index, call);
    call.name ||= name;
    call.id ||= stringOf(delta['id']);
    this.#kept.keep(call.arguments, stringOf(called['arguments'] ?? called['input']));
  }
}

function messageOf({ text, calls }: ChoiceSoFar): CanonicalMessage {
  const made = [...calls.values()].map((call) => ({ ...call, arguments: call.arguments.join('') }));
  return canonicalMessage('assistant', { text, calls: made });
}
