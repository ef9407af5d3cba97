import { hashText } from '../text/tokens.js';
import type { Delta, ToolChoice } from '../text/answer.js';
import type { Message, Tool, ToolCall } from '../text/conversation.js';
import { finishOf, promptOf, readTerms, type Api, type Ask, type Choice, type Reply } from './api.js';
import { ApiError, invalidBody, array, integer, isObject, object, string, type JsonObject } from './fields.js';
import { OpenaiFormatter, usageSoFar } from './openai.js';

export const chat: Api = {
  read: readChat,
  format: (reply) => new ChatFormatter(reply),
};

function readChat(body: JsonObject): Ask {
  const maxTokens = integer(body, 'max_completion_tokens', 1) ?? integer(body, 'max_tokens', 1);
  const terms = readTerms(body, maxTokens);
  const prompt = readChatPrompt(body);
  const choice = body['tool_choice'] ?? 'none';
  if (choice !== 'none' && prompt.tools.length === 0) {
    throw new ApiError(400, 'When using `tool_choice`, `tools` must be set.', 'tool_choice');
  }
  return { terms, prompts: [prompt] };
}

/** The prompt of a chat body, for `/tokenize` too. */
export function readChatPrompt(body: JsonObject): Ask['prompts'][number] {
  const messages = array(body['messages'], 'messages').map(readMessage);
  if (messages.length === 0) throw new ApiError(400, 'messages: at least one is expected', 'messages');
  const toolList = array(body['tools'] ?? [], 'tools');
  const tools = toolList.map((tool) => readTool(object(object(tool, 'tools')['function'], 'tools.function')));
  const choice = readToolChoice(body['tool_choice'], tools);
  return promptOf(messages, toolList, tools, choice, readFormat(body['response_format']));
}

const ROLES: ReadonlyMap<unknown, Message['role']> = new Map([
  ...(['system', 'user', 'assistant', 'tool'] as const).map((role) => [role, role] as const),
  ['developer', 'system'],
  ['function', 'tool'],
]);

function readMessage(value: unknown): Message {
  const message = object(value, 'messages');
  const role = ROLES.get(message['role']);
  const toolCalls = array(message['tool_calls'] ?? [], 'messages.tool_calls').map(readToolCall);
  const content = readContent(message['content'], 'messages.content');
  if (role !== undefined) return { role, toolCalls, ...content };
  throw new ApiError(400, 'messages.role: system, developer, user, assistant or tool is expected', 'messages');
}

function readToolCall(value: unknown): ToolCall {
  const call = object(value, 'messages.tool_calls');
  const target = object(call['function'], 'messages.tool_calls.function');
  return {
    id: string(call, 'id') ?? '',
    name: string(target, 'name') ?? '',
    arguments: string(target, 'arguments') ?? '',
  };
}

/** Text of a string or of a list of parts; parts other than text become attachments. */
export function readContent(value: unknown, name: string): { text: string; attachments?: readonly number[] } {
  if (value === undefined || value === null) return { text: '' };
  if (typeof value === 'string') return { text: value };
  let text = '';
  const attachments: number[] = [];
  for (const entry of array(value, name)) {
    const part = object(entry, name);
    if (typeof part['text'] === 'string') text += part['text'];
    else attachments.push(hashText(JSON.stringify(part)));
  }
  return attachments.length > 0 ? { text, attachments } : { text };
}

function readTool(target: JsonObject): Tool {
  const name = string(target, 'name');
  if (name === undefined) throw invalidBody('tools.function.name: a string is expected', 'tools');
  return { name, parameters: target['parameters'] ?? { type: 'object' } };
}

/** OpenAI's `tool_choice`, of chat (`{function: {name}}`) and responses (`{name}`). */
export function readToolChoice(value: unknown, tools: readonly Tool[]): ToolChoice {
  if (value === undefined || value === null) return 'auto';
  if (value === 'auto' || value === 'none') return value;
  if (value === 'required' && tools.length > 0) return value;
  const choice = isObject(value) ? value : {};
  const target = isObject(choice['function']) ? choice['function'] : choice;
  const name = target['name'];
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name };
  if (choice['type'] === 'allowed_tools') return choice['mode'] === 'required' ? 'required' : 'auto';
  throw new ApiError(400, 'tool_choice: none, auto, required or a tool of the list is expected', 'tool_choice');
}

/** The schema of a response format: chat has it in an object of its own, responses beside its type. */
export function readFormat(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (value['type'] === 'json_object') return { type: 'object' };
  const { schema } = isObject(value['json_schema']) ? value['json_schema'] : value;
  return value['type'] === 'json_schema' ? schema : undefined;
}

class ChatFormatter extends OpenaiFormatter {
  constructor(reply: Reply) {
    super(reply, { prefix: 'chatcmpl', stream: 'chat.completion.chunk', whole: 'chat.completion' });
  }

  delta(choice: Choice, deltas: readonly Delta[]): string[] {
    const events: string[] = [];
    if (!choice.opened) {
      const role = { role: 'assistant', content: '' };
      events.push(this.#chunk(choice, role, null, usageSoFar(this.reply, choice, 0)));
    }
    const finish = finishOf(choice);
    const parts = deltas.map(chatDelta);
    // Some tokens show no text, such as those of a tool call's name. The finish reason is sent all the same.
    if (parts.length === 0 && finish !== null) parts.push({});
    parts.forEach((part, index) => {
      events.push(this.#chunk(choice, part, index === parts.length - 1 ? finish : null));
    });
    return events;
  }

  protected choiceOf({ index, narrator: { text, calls }, answer }: Choice): JsonObject {
    return {
      index,
      message: {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        ...(calls.length > 0 ? { tool_calls: calls.map(chatCall) } : {}),
        reasoning: null,
      },
      logprobs: null,
      finish_reason: answer.finish,
      stop_reason: null,
    };
  }

  #chunk(choice: Choice, delta: JsonObject, finish: string | null, more: JsonObject = {}): string {
    const entry = { index: choice.index, delta, logprobs: null, finish_reason: finish };
    return this.chunk(choice, finish === null ? entry : { ...entry, stop_reason: null }, finish !== null, more);
  }
}

function chatDelta(delta: Delta): JsonObject {
  switch (delta.type) {
    case 'text':
      return { content: delta.text };
    case 'call': {
      const target = { name: delta.call.name, arguments: '' };
      return { tool_calls: [{ index: delta.index, id: delta.call.id, type: 'function', function: target }] };
    }
    case 'arguments':
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
  }
}

const chatCall = ({ id, name, arguments: json }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});
