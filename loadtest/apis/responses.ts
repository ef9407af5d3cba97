import {
  type Answer,
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
  objectOf,
  quoted,
  textOf,
} from './api.js';

/** POST /v1/responses: the whole input is sent again each time, as Codex does. */
export const responses: LoadApi = {
  path: '/v1/responses',
  endsWithMark: false,
  item,
  body: (ask) =>
    bodyOf({ store: false, ...fieldsOf(ask, 'max_output_tokens', tool) }, 'input', `[${ask.items.join(',')}]`),
  event,
  whole: (body, answer) => {
    if (!Array.isArray(body['output'])) return false;
    takeResponse(body, answer);
    return true;
  },
};

const tool = (name: string): JsonObject => ({ type: 'function', name, parameters: FUNCTION_PARAMETERS });

function item({ role, toolCalls = [], toolId, ...message }: Message): string {
  if (toolId !== undefined)
    return `{"type":"function_call_output","call_id":${JSON.stringify(toolId)},"output":${quoted(message)}}`;
  const calls = toolCalls.map(({ id, ...call }) => JSON.stringify({ type: 'function_call', call_id: id, ...call }));
  if (calls.length > 0 && message.text === '') return calls.join(',');
  return [`{"type":"message","role":"${role}","content":${quoted(message)}}`, ...calls].join(',');
}

/** Kinds of deltas that are not part of the answer. */
const OTHER_DELTAS = /audio|annotation/;

function event(data: JsonObject, answer: Answer): Step {
  const type = textOf(data['type']);
  if (type === 'response.output_text.delta') {
    answer.text += textOf(data['delta']);
    return 'part';
  }
  if (type === 'error' || type === 'response.failed' || (type === '' && data['error'] !== undefined)) return 'error';
  if (type === 'response.completed' || type === 'response.incomplete') {
    takeResponse(objectOf(data['response']), answer);
    return 'done';
  }
  if (!type.startsWith('response.')) return 'alien';
  return type.endsWith('.delta') && !OTHER_DELTAS.test(type) ? 'part' : 'other';
}

function takeResponse(response: JsonObject, answer: Answer): void {
  answer.text = '';
  answer.toolCalls = [];
  for (const item of listOf(response['output']).filter(isObject)) {
    if (item['type'] === 'function_call')
      growCall(answer, answer.toolCalls.length, {
        id: textOf(item['call_id']),
        name: textOf(item['name']),
        arguments: textOf(item['arguments']),
      });
    else if (item['type'] === 'message')
      for (const part of listOf(item['content'])) answer.text += textOf(objectOf(part)['text']);
  }
  const usage = objectOf(response['usage']);
  answer.promptTokens = countOf(usage['input_tokens']);
  answer.outputTokens = countOf(usage['output_tokens']);
  answer.cachedTokens = countOf(objectOf(usage['input_tokens_details'])['cached_tokens']);
}
