import {
  type Answer,
  type Ask,
  type JsonObject,
  type LoadApi,
  type Message,
  type Step,
  bodyOf,
  countOf,
  fieldsOf,
  FUNCTION_PARAMETERS,
  growCall,
  isObject,
  listOf,
  objectIn,
  objectOf,
  quoted,
  textOf,
} from './api.js';

/** POST /v1/messages, Anthropic's API. */
export const messages: LoadApi = {
  path: '/v1/messages',
  endsWithMark: false,
  item,
  body,
  event,
  whole,
};

const SYSTEM = '{"role":"system","content":';

/** The system prompt has a field of its own. */
function body(ask: Ask): string {
  const [first] = ask.items;
  const system = first?.startsWith(SYSTEM) === true ? first : undefined;
  const rest = system === undefined ? ask.items : ask.items.slice(1);
  const fields = bodyOf(fieldsOf(ask, 'max_tokens', tool), 'messages', `[${rest.join(',')}]`);
  return system === undefined ? fields : `${fields.slice(0, -1)},"system":${system.slice(SYSTEM.length, -1)}}`;
}

const tool = (name: string): JsonObject => ({ name, input_schema: FUNCTION_PARAMETERS });

function item({ role, toolCalls = [], toolId, ...message }: Message): string {
  if (toolId !== undefined) {
    const result = `{"type":"tool_result","tool_use_id":${JSON.stringify(toolId)},"content":${quoted(message)}}`;
    return `{"role":"user","content":[${result}]}`;
  }
  if (toolCalls.length > 0) {
    const uses = toolCalls.map(({ id, name, arguments: json }) => ({
      type: 'tool_use',
      id,
      name,
      input: objectIn(json) ?? {},
    }));
    const said = message.text === '' ? [] : [{ type: 'text', text: message.text }];
    return JSON.stringify({ role, content: [...said, ...uses] });
  }
  return `{"role":"${role}","content":${quoted(message)}}`;
}

function event(data: JsonObject, answer: Answer): Step {
  switch (data['type']) {
    case 'content_block_delta':
      return takeDelta(objectOf(data['delta']), answer);
    case 'message_start':
      takeUsage(objectOf(data['message'])['usage'], answer);
      return 'other';
    case 'content_block_start': {
      const block = objectOf(data['content_block']);
      if (block['type'] !== 'tool_use') return 'other';
      growCall(answer, answer.toolCalls.length, { id: textOf(block['id']), name: textOf(block['name']) });
      return 'part';
    }
    case 'message_delta':
      takeUsage(data['usage'], answer);
      return 'other';
    case 'message_stop':
      return 'done';
    case 'error':
      return 'error';
    case 'ping':
    case 'content_block_stop':
      return 'other';
    default:
      return 'alien';
  }
}

function takeDelta(delta: JsonObject, answer: Answer): Step {
  if (delta['type'] === 'text_delta') answer.text += textOf(delta['text']);
  if (delta['type'] === 'input_json_delta')
    growCall(answer, answer.toolCalls.length - 1, { arguments: textOf(delta['partial_json']) });
  return 'part';
}

function whole(body: JsonObject, answer: Answer): boolean {
  if (!Array.isArray(body['content'])) return false;
  for (const block of listOf(body['content']).filter(isObject)) {
    if (block['type'] === 'text') answer.text += textOf(block['text']);
    if (block['type'] === 'tool_use')
      growCall(answer, answer.toolCalls.length, {
        id: textOf(block['id']),
        name: textOf(block['name']),
        arguments: JSON.stringify(block['input'] ?? {}),
      });
  }
  takeUsage(body['usage'], answer);
  return true;
}

/** Cached tokens are counted separately; a field that is not repeated keeps its value. */
function takeUsage(usage: unknown, answer: Answer): void {
  if (!isObject(usage)) return;
  const input = countOf(usage['input_tokens']);
  const read = countOf(usage['cache_read_input_tokens']);
  const created = countOf(usage['cache_creation_input_tokens']);
  if (!Number.isNaN(read)) answer.cachedTokens = read;
  if (!Number.isNaN(input)) answer.promptTokens = input + (read || 0) + (created || 0);
  const output = countOf(usage['output_tokens']);
  if (!Number.isNaN(output)) answer.outputTokens = output;
}
