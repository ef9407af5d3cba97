import {
  type Answer,
  type JsonObject,
  type LoadApi,
  type Message,
  type ToolCall,
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
} from './api.js';

export const chat: LoadApi = {
  path: '/v1/chat/completions',
  endsWithMark: true,
  item: chatItem,
  body: (ask) => bodyOf(openaiFields(ask, tool), 'messages', `[${ask.items.join(',')}]`),
  event: (data, answer) =>
    openaiEvent(data, answer, ({ delta }) => {
      if (!isObject(delta)) return 'alien';
      return takeDelta(delta, answer) ? 'part' : 'other';
    }),
  whole: chatWhole,
};

const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: FUNCTION_PARAMETERS } });

function chatItem({ role, toolCalls = [], toolId, ...message }: Message): string {
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

function chatWhole(body: JsonObject, answer: Answer): boolean {
  const message = objectOf(listOf(body['choices'])[0])['message'];
  if (!isObject(message)) return false;
  answer.text = textOf(message['content']);
  listOf(message['tool_calls']).forEach((call, at) => growCall(answer, at, callOf(objectOf(call))));
  takeUsage(body['usage'], answer);
  return true;
}

/** POST /v1/completions: a conversation is one text, in which each answer directly follows its prompt. */
export const completions: LoadApi = {
  path: '/v1/completions',
  endsWithMark: true,
  item: (message) => quoted(message.isPlain === true ? plain(message) : said(message)).slice(1, -1),
  // It has no tools.
  body: (ask) => bodyOf(openaiFields({ ...ask, tools: [] }, tool), 'prompt', `"${ask.items.join('').trimStart()}"`),
  event: (data, answer) =>
    openaiEvent(data, answer, ({ text }) => {
      if (typeof text !== 'string') return 'alien';
      answer.text += text;
      return text === '' ? 'other' : 'part';
    }),
  whole: textWhole,
};

/** Words begin with the space that separates them from the text before. */
const plain = ({ role, text }: Message): Message => ({ role, text: ` ${text}`, isPlain: true });

function said({ role, text, toolCalls = [] }: Message): Message {
  if (role !== 'assistant') return { role, text: `\n\n${role}: ${text}` };
  return { role, text: [text, ...toolCalls.map((call) => `${call.name}(${call.arguments})`)].join('\n') };
}

function textWhole(body: JsonObject, answer: Answer): boolean {
  const [choice] = listOf(body['choices']);
  if (!isObject(choice) || typeof choice['text'] !== 'string') return false;
  answer.text = choice['text'];
  takeUsage(body['usage'], answer);
  return true;
}
