import type { Message, Tool, ToolCall } from '../text/conversation.js';
import { promptOf, readTerms, type Ask, type History } from './api.js';
import { readContent, readFormat, readToolChoice } from './chat.js';
import {
  ApiError,
  invalidBody,
  unknownResponse,
  array,
  integer,
  isObject,
  object,
  string,
  type JsonObject,
} from './fields.js';

export function readResponses(body: JsonObject, history: History): Ask {
  const terms = { ...readTerms(body, integer(body, 'max_output_tokens', 1)), n: 1 };
  const instructions = string(body, 'instructions');
  const conversation = [...earlier(body, history), ...readInput(body['input'])];
  if (conversation.length === 0) throw new ApiError(400, 'input: at least one item is expected', 'input');
  const all: Message[] =
    instructions === undefined
      ? conversation
      : [{ role: 'system', text: instructions, toolCalls: [] }, ...conversation];
  const toolList = array(body['tools'] ?? [], 'tools').map((tool) => object(tool, 'tools'));
  const tools = toolList.flatMap((tool) => readTool(tool));
  const choice = readToolChoice(body['tool_choice'], tools);
  const format = readFormat(isObject(body['text']) ? body['text']['format'] : undefined);
  return { terms, prompts: [promptOf(all, toolList, tools, choice, format)] };
}

/** The functions of an entry of `tools`: the entry itself, all of a namespace, or none if the server runs the tool. */
function readTool(tool: JsonObject): Tool[] {
  if (tool['type'] === 'namespace') return membersOf(tool).flatMap((member) => readTool(member));
  if (tool['type'] !== 'function') return [];
  return [{ name: string(tool, 'name') ?? '', parameters: tool['parameters'] ?? { type: 'object' } }];
}

const membersOf = (namespace: JsonObject): JsonObject[] =>
  array(namespace['tools'] ?? [], 'tools').map((tool) => object(tool, 'tools'));

/** The namespace in `tools` that holds a function of this name; a call of the function must name it. */
export function namespaceOf(body: JsonObject, name: string): string | undefined {
  const namespaces = array(body['tools'] ?? [], 'tools').filter(isObject);
  const found = namespaces.find(
    (tool) => tool['type'] === 'namespace' && membersOf(tool).some((member) => member['name'] === name),
  );
  return found && string(found, 'name');
}

function earlier(body: JsonObject, history: History): readonly Message[] {
  const previous = string(body, 'previous_response_id');
  if (previous === undefined) return [];
  const conversation = history(previous);
  if (conversation === undefined) throw unknownResponse(previous);
  return conversation;
}

function readInput(input: unknown): Message[] {
  if (typeof input === 'string') return [{ role: 'user', text: input, toolCalls: [] }];
  const conversation: Message[] = [];
  for (const entry of array(input, 'input')) {
    const item = object(entry, 'input');
    const type = string(item, 'type') ?? 'message';
    if (type === 'reasoning' || type === 'item_reference') continue;
    if (type === 'message') conversation.push(readMessage(item));
    else if (type.endsWith('_output')) conversation.push(readOutput(item));
    else addCall(conversation, readCall(item, type));
  }
  return conversation;
}

function readMessage(item: JsonObject): Message {
  const content = { toolCalls: [], ...readContent(item['content'], 'input.content') };
  const role = item['role'] === 'developer' ? 'system' : item['role'];
  if (role !== 'system' && role !== 'user' && role !== 'assistant')
    throw invalidBody('input.role: system, developer, user or assistant is expected', 'input');
  return { role, ...content };
}

function readOutput(item: JsonObject): Message {
  const output = item['output'];
  const text = isObject(output) ? JSON.stringify(output) : output;
  return { role: 'tool', toolCalls: [], ...readContent(text, 'input.output') };
}

/** A call of any kind: functions carry JSON, custom tools plain text, built-in ones an action. */
function readCall(item: JsonObject, type: string): ToolCall {
  const action = item['arguments'] ?? item['input'] ?? item['action'] ?? '';
  return {
    id: string(item, 'call_id') ?? '',
    name: string(item, 'name') ?? type,
    arguments: typeof action === 'string' ? action : JSON.stringify(action),
  };
}

/** A call belongs to the answer before it, since text and calls are one message. A call alone is an answer too. */
function addCall(conversation: Message[], call: ToolCall): void {
  const last = conversation.at(-1);
  if (last?.role !== 'assistant') conversation.push({ role: 'assistant', text: '', toolCalls: [call] });
  else conversation[conversation.length - 1] = { ...last, toolCalls: [...last.toolCalls, call] };
}
