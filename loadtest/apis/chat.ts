import type { Answer, JsonObject, LoadApi, Message, Step, ToolCall } from './api.js';
import {
  bodyOf,
  countOf,
  FUNCTION_PARAMETERS,
  growCall,
  isObject,
  listOf,
  objectOf,
  openaiEvent,
  openaiFields,
  quoted,
  takeUsage,
  textOf,
} from './json.js';

const event = (data: JsonObject, answer: Answer): Step =>
  openaiEvent(data, answer, ({ delta }) => {
    if (!isObject(delta)) return 'alien';
    return takeDelta(delta, answer) ? 'part' : 'other';
  });

/** POST /v1/chat/completions */
export const chat: LoadApi = {
  path: '/v1/chat/completions',
  endsWithMark: true,
  item,
  body: (ask) =>
    bodyOf(
      {
        ...openaiFields(ask),
        ...(ask.tools.length > 0 && { tools: ask.tools.map(tool) }),
        ...ask.fields,
      },
      'messages',
      `[${ask.items.join(',')}]`,
    ),
  event,
  whole,
};

const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: FUNCTION_PARAMETERS } });

function item({ role, toolCalls = [], toolId, ...message }: Message): string {
  if (toolCalls.length > 0) {
    const calls = toolCalls.map(({ id, ...target }) => ({ id, type: 'function', function: target }));
    return JSON.stringify({ role, content: message.text === '' ? null : message.text, tool_calls: calls });
  }
  const of = toolId === undefined ? '' : `,"tool_call_id":${JSON.stringify(toolId)}`;
  return `{"role":"${role}"${of},"content":${quoted(message)}}`;
}

/** Returns true when the delta has a part of the answer, reasoning included. */
function takeDelta(delta: JsonObject, answer: Answer): boolean {
  const content = textOf(delta['content']);
  answer.text += content;
  const calls = listOf(delta['tool_calls']);
  for (const each of calls) takeCall(objectOf(each), answer);
  const thought = textOf(delta['reasoning_content']) + textOf(delta['reasoning']);
  return content !== '' || calls.length > 0 || thought !== '';
}

function takeCall(call: JsonObject, answer: Answer): void {
  const index = countOf(call['index']);
  const at = Number.isNaN(index) ? answer.toolCalls.length : Math.min(index, answer.toolCalls.length);
  growCall(answer, at, callOf(call));
}

function callOf(call: JsonObject): Partial<ToolCall> {
  const target = objectOf(call['function']);
  return {
    ...(typeof call['id'] === 'string' && { id: call['id'] }),
    ...(typeof target['name'] === 'string' && { name: target['name'] }),
    arguments: textOf(target['arguments']),
  };
}

function whole(body: JsonObject, answer: Answer): boolean {
  const message = objectOf(listOf(body['choices'])[0])['message'];
  if (!isObject(message)) return false;
  answer.text = textOf(message['content']);
  listOf(message['tool_calls']).forEach((call, at) => growCall(answer, at, callOf(objectOf(call))));
  takeUsage(body['usage'], answer);
  return true;
}
