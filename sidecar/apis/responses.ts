import type { AnswerFacts, Api, CanonicalMessage, JsonObject, SseEvent, StreamReader, Turn } from './api.js';
import { canonicalMessage, LazyTurn, canonicalPart, nothingSaid, readContent, type Said } from './canonical.js';
import {
  checkContent,
  invalid,
  isAbsent,
  isFailure,
  isObject,
  listOf,
  objectOf,
  parseObject,
  readFlag,
  readModel,
  readOptionalString,
  readWhole,
  stringOf,
} from './fields.js';
import { Kept, usageOf } from './usage.js';
import { whole, promptBytes } from './prompt.js';
import { openaiErrors } from './openai.js';

/** Longer ids are not remembered: some engines let clients choose them. */
const ID_CHARS_MAX = 256;

export const responses: Api = {
  kind: 'responses',
  list: 'input',

  readRequest(body) {
    const items = readInput(body);
    if (readFlag(body, 'background'))
      throw invalid('background', 'false: a background response would run outside of the schedule');
    const previousResponseId = readOptionalString(body, 'previous_response_id');
    const stored = previousResponseId !== undefined || !isAbsent(body['conversation']);
    return {
      model: readModel(body),
      stream: readFlag(body, 'stream'),
      promptBytes: promptBytes(body['instructions'], items, body['tools']),
      maxTokens: readWhole(body, 'max_output_tokens', 1),
      previousResponseId,
      conversation: () => (stored ? [] : turnsOf([{ role: 'system', content: body['instructions'] }, ...items])),
    };
  },

  readAnswer(answer): AnswerFacts {
    const { input_tokens, output_tokens, input_tokens_details } = objectOf(answer['usage']);
    const usage = usageOf(input_tokens, output_tokens, objectOf(input_tokens_details)['cached_tokens']);
    const said = nothingSaid();
    for (const item of listOf(answer['output'])) readOwnItem(objectOf(item), said);
    const id = stringOf(answer['id']);
    return {
      usageObject: answer,
      message: canonicalMessage('assistant', said),
      usage,
      responseId: id !== '' && id.length <= ID_CHARS_MAX ? id : undefined,
    };
  },

  readStream: (_facts, wantsMessage) => new ResponseReader(wantsMessage),
  ...openaiErrors,

  errorEvent(error, _requestId, reader) {
    const response = {
      ...NO_RESPONSE,
      ...(reader instanceof ResponseReader && reader.response),
      status: 'failed',
      error: { code: error.detail.names?.code ?? error.code, message: error.message },
    };
    const event = { type: 'response.failed', sequence_number: reader?.nextSequence ?? 0, response };
    return `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
  },
};

/** Text or items. The input may be absent if the engine already holds the conversation. */
function readInput(body: JsonObject): readonly JsonObject[] {
  const input = body['input'];
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const elsewhere = ['previous_response_id', 'conversation', 'prompt'].some((field) => !isAbsent(body[field]));
  if (isAbsent(input) && elsewhere) return [];
  if (!Array.isArray(input)) throw invalid('input', 'a string or an array', body);
  return input.map((item: unknown, i) => {
    if (!isObject(item)) throw invalid(`input[${i}]`, 'an object');
    const isMessage = item['type'] === 'message' || isAbsent(item['type']);
    const isNamed = typeof item['role'] === 'string' || (!isMessage && isAbsent(item['role']));
    if (!isNamed) throw invalid(`input[${i}].role`, 'a string');
    if (isMessage) checkContent(item['content'], `input[${i}].content`);
    return item;
  });
}

/** Clients may send one answer as several items, or merge items: the model's consecutive items form one message. */
function turnsOf(items: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  let own: JsonObject[] | undefined;
  for (const item of items) {
    if (item['type'] === 'reasoning') continue;
    if (!isOwn(item)) {
      own = undefined;
      turns.push(new LazyTurn(roleOf(item), item, canonicalItem));
    } else if (own) own.push(item);
    else turns.push(new LazyTurn('assistant', (own = [item]), canonicalAnswer));
  }
  return turns;
}

const roleOf = (item: JsonObject): string => stringOf(item['role'] ?? item['type']);

function canonicalAnswer(items: readonly JsonObject[]): CanonicalMessage {
  const said = nothingSaid();
  for (const item of items) readOwnItem(whole(item), said);
  return canonicalMessage('assistant', said);
}

/** Whether the item comes from the model: its messages, and calls of every kind of tool. */
const isOwn = (item: JsonObject): boolean => item['role'] === 'assistant' || stringOf(item['type']).endsWith('_call');

function readOwnItem(item: JsonObject, said: Said): void {
  const type = stringOf(item['type']);
  const [name, id] = [stringOf(item['name']), stringOf(item['call_id'])];
  if (type === 'function_call') said.calls.push({ name, arguments: item['arguments'], id });
  else if (type === 'custom_tool_call') said.calls.push({ name, arguments: item['input'], id });
  else if (type.endsWith('_call')) said.calls.push({ name: type, arguments: canonicalPart(item), id });
  else readContent(item['content'], said);
}

function canonicalItem(given: JsonObject): CanonicalMessage {
  const item = whole(given);
  const said = nothingSaid();
  if (typeof item['role'] === 'string') readContent(item['content'], said);
  else if (stringOf(item['type']).endsWith('_output') && !isObject(item['output'])) readContent(item['output'], said);
  else said.text.push(canonicalPart(item));
  return canonicalMessage(roleOf(item), said);
}

/** Required fields of a response object, for errors before the engine has sent one. */
const NO_RESPONSE = { id: '', object: 'response', created_at: 0, model: '', output: [] };

/** Events that carry the whole response object, and errors: by name, and as marks in the data of unnamed ones. */
const TELLING = new Set(['error', 'response.created', 'response.completed', 'response.incomplete', 'response.failed']);
const TELLING_MARK = /"(?:response\.(?:created|completed|incomplete|failed)|error)"/;

class ResponseReader implements StreamReader {
  complete = false;
  failed = false;
  response: JsonObject = {};
  /** Events of finished items, for servers whose last event omits the output. */
  readonly #items: string[] = [];
  readonly #kept = new Kept(true);
  #last = '';

  constructor(private readonly wantsMessage: boolean) {}

  get nextSequence(): number {
    const sequence = /"sequence_number"\s*:\s*(\d{1,15})/.exec(this.#last)?.[1];
    return sequence === undefined ? 0 : Number(sequence) + 1;
  }

  push(event: SseEvent): 'forward' | 'hide' {
    const isTelling = event.event === undefined ? TELLING_MARK.test(event.data) : TELLING.has(event.event);
    if (isTelling && this.#readWhole(parseObject(event.data) ?? {}) === 'hide') return 'hide';
    this.#last = event.data;
    if (event.data.includes('"response.output_item.done"')) this.#keepItem(event.data);
    return 'forward';
  }

  facts(): AnswerFacts {
    const listed = listOf(this.response['output']).length > 0;
    const { message, usageObject, ...facts } = responses.readAnswer({
      ...this.response,
      ...(listed ? {} : { output: this.#items.map((data) => objectOf(parseObject(data)?.['item'])) }),
    });
    return {
      ...facts,
      usageObject: facts.usage && usageObject,
      message: this.wantsMessage && this.complete ? message : undefined,
    };
  }

  #readWhole(data: JsonObject): 'forward' | 'hide' {
    const { type, response } = data;
    if (isObject(response)) this.response = response;
    if (type === 'response.completed' || type === 'response.incomplete') this.complete = true;
    if (type !== 'response.failed' && !isFailure(data)) return 'forward';
    this.failed ||= !this.complete;
    return 'hide';
  }

  #keepItem(data: string): void {
    if (parseObject(data)?.['type'] === 'response.output_item.done') this.#kept.keep(this.#items, data);
  }
}
