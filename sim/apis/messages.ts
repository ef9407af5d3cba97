import { hashText } from '../text/tokens.js';
import type { Delta, ToolChoice } from '../text/answer.js';
import type { Message, Tool, ToolCall } from '../text/conversation.js';
import {
  optional,
  promptOf,
  readTerms,
  sse,
  type Api,
  type Ask,
  type Choice,
  type Formatter,
  type Reply,
  type Usage,
} from './api.js';
import { readContent } from './chat.js';
import { ApiError, invalidBody, array, integer, isObject, object, string, type JsonObject } from './fields.js';

/** POST /v1/messages, Anthropic's API. */
export const messages: Api = {
  read: readMessages,
  format: (reply) => new MessagesFormatter(reply),
};

function readMessages(body: JsonObject): Ask {
  const maxTokens = integer(body, 'max_tokens', 1);
  if (maxTokens === undefined) throw invalidBody('max_tokens: an integer is expected', 'max_tokens');
  return { terms: { ...readTerms(body, maxTokens), n: 1 }, prompts: [readMessagesPrompt(body)] };
}

/** The prompt of a messages body, for `count_tokens` too. */
export function readMessagesPrompt(body: JsonObject): Ask['prompts'][number] {
  const system = readContent(body['system'], 'system');
  const turns = array(body['messages'], 'messages').flatMap(readTurn);
  if (turns.length === 0) throw new ApiError(400, 'messages: at least one is expected', 'messages');
  const all: Message[] = system.text === '' ? turns : [{ role: 'system', toolCalls: [], ...system }, ...turns];
  const toolList = array(body['tools'] ?? [], 'tools').map((tool) => object(tool, 'tools'));
  const tools = toolList
    .filter((tool) => isObject(tool['input_schema']))
    .map((tool): Tool => ({ name: string(tool, 'name') ?? '', parameters: tool['input_schema'] }));
  return promptOf(all, toolList, tools, readChoice(body['tool_choice'], tools));
}

/** One message of the body; tool results in a user's message become messages of their own. */
function readTurn(value: unknown): Message[] {
  const turn = object(value, 'messages');
  const role = string(turn, 'role');
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalidBody('messages.role: user or assistant is expected', 'messages');
  }
  const content = turn['content'];
  if (typeof content === 'string') return [{ role, text: content, toolCalls: [] }];
  const results: Message[] = [];
  const toolCalls: ToolCall[] = [];
  const attachments: number[] = [];
  let text = '';
  for (const entry of array(content, 'messages.content')) {
    const block = object(entry, 'messages.content');
    if (block['type'] === 'text') text += string(block, 'text') ?? '';
    else if (block['type'] === 'tool_use') toolCalls.push(readToolUse(block));
    else if (block['type'] === 'tool_result') {
      results.push({ role: 'tool', toolCalls: [], ...readContent(block['content'], 'messages.content') });
    } else if (block['type'] !== 'thinking' && block['type'] !== 'redacted_thinking') {
      attachments.push(hashText(JSON.stringify(block)));
    }
  }
  const empty = text === '' && toolCalls.length === 0 && attachments.length === 0;
  if (empty && results.length > 0) return results;
  const aside = results.length > 0 ? { aside: true } : {};
  return [...results, { role, text, toolCalls, attachments, ...aside }];
}

function readToolUse(block: JsonObject): ToolCall {
  return {
    id: string(block, 'id') ?? '',
    name: string(block, 'name') ?? '',
    arguments: JSON.stringify(block['input'] ?? {}),
  };
}

function readChoice(value: unknown, tools: readonly Tool[]): ToolChoice {
  const choice = isObject(value) ? value : { type: 'auto' };
  const name = choice['name'];
  if (choice['type'] === 'auto' || choice['type'] === 'none') return choice['type'];
  if (choice['type'] === 'any' && tools.length > 0) return 'required';
  if (choice['type'] === 'tool' && typeof name === 'string' && tools.some((tool) => tool.name === name))
    return { name };
  throw new ApiError(400, 'tool_choice: auto, any, none or a tool of the list is expected', 'tool_choice');
}

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;

class MessagesFormatter implements Formatter {
  /** The open content block of the stream, and the number of blocks so far. */
  #open: 'text' | 'call' | undefined;
  #blocks = 0;

  constructor(private readonly reply: Reply) {}

  delta(choice: Choice, deltas: readonly Delta[]): string[] {
    const events: string[] = [];
    if (!choice.opened) {
      events.push(typed({ type: 'message_start', message: { ...this.whole(), content: [], stop_reason: null } }));
    }
    for (const delta of deltas) events.push(...this.#deltaEvents(delta));
    return events;
  }

  #deltaEvents(delta: Delta): string[] {
    switch (delta.type) {
      case 'text': {
        const start = this.#open === 'text' ? [] : this.#start('text', { type: 'text', text: '' });
        return [...start, this.#blockDelta({ type: 'text_delta', text: delta.text })];
      }
      case 'call':
        return this.#start('call', { type: 'tool_use', id: toolId(delta.call.id), name: delta.call.name, input: {} });
      case 'arguments':
        return [this.#blockDelta({ type: 'input_json_delta', partial_json: delta.text })];
    }
  }

  #start(kind: 'text' | 'call', block: JsonObject): string[] {
    const events = this.#stop();
    this.#open = kind;
    this.#blocks += 1;
    return [...events, typed({ type: 'content_block_start', index: this.#blocks - 1, content_block: block })];
  }

  #stop(): string[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [typed({ type: 'content_block_stop', index: this.#blocks - 1 })];
  }

  #blockDelta(delta: JsonObject): string {
    return typed({ type: 'content_block_delta', index: this.#blocks - 1, delta });
  }

  finish(choice: Choice): string[] {
    const usage = this.reply.usage();
    const delta = { stop_reason: STOP_REASONS[choice.answer.finish], stop_sequence: null };
    return [
      ...this.#stop(),
      typed({ type: 'message_delta', delta, ...optional('usage', usage && anthropicUsage(usage)) }),
    ];
  }

  closing(): string[] {
    return [typed({ type: 'message_stop' })];
  }

  whole(): JsonObject {
    const [choice] = this.reply.choices;
    const usage = this.reply.usage();
    const { text, calls } = choice?.narrator ?? { text: '', calls: [] };
    const content = calls.map(({ id, name, arguments: json }): JsonObject => ({
      type: 'tool_use',
      id: toolId(id),
      name,
      input: parsed(json),
    }));
    if (text !== '' || content.length === 0) content.unshift({ type: 'text', text });
    return {
      id: `msg_${this.reply.id}`,
      type: 'message',
      role: 'assistant',
      model: this.reply.model,
      content,
      stop_reason: STOP_REASONS[choice?.answer.finish ?? 'stop'],
      stop_sequence: null,
      ...optional('usage', usage && anthropicUsage(usage)),
    };
  }
}

const typed = (data: JsonObject & { readonly type: string }): string => sse(data, data.type);

const toolId = (id: string): string => id.replace(/^call_/, 'toolu_');

/** Arguments cut short by `max_tokens` are not valid JSON: the block then has an empty input. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/** Anthropic counts cached tokens apart from `input_tokens`. */
function anthropicUsage({ prompt, cached, output }: Usage): JsonObject {
  return {
    input_tokens: prompt - cached,
    output_tokens: output,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
  };
}
