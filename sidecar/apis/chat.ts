import { FURTHER_MAX, type AnswerFacts, type Api, type CanonicalMessage, type JsonObject } from './api.js';
import { canonicalMessage, LazyTurn, nothingSaid, readContent, type Call } from './canonical.js';
import {
  isObject,
  listOf,
  objectOf,
  readFlag,
  readMessages,
  readModel,
  readStreamOptions,
  readLimit,
  readWhole,
  stringOf,
} from './fields.js';
import { whole, promptBytes } from './prompt.js';
import { ChunkReader, openaiErrors, openaiUsageFields } from './openai.js';
import { openaiUsage } from './usage.js';

export const chat: Api = {
  kind: 'chat',
  list: 'messages',

  readRequest(body) {
    const messages = readMessages(body);
    const limit = readLimit(body, 'max_tokens', 1);
    return {
      model: readModel(body),
      stream: readFlag(body, 'stream'),
      promptBytes: promptBytes(messages, body['tools'], body['functions']),
      maxTokens: readLimit(body, 'max_completion_tokens', 1) ?? limit,
      choices: readWhole(body, 'n', 1) ?? 1,
      wantsUsage: readStreamOptions(body)['include_usage'] === true,
      conversation: () => messages.map((message) => new LazyTurn(stringOf(message['role']), message, canonicalChat)),
    };
  },

  usageFields: openaiUsageFields,

  readAnswer(answer): AnswerFacts {
    const messages = listOf(answer['choices']).map((choice) => objectOf(objectOf(choice)['message']));
    const [message, ...further] = messages.slice(0, 1 + FURTHER_MAX).map((each) => canonicalChat(each, 'assistant'));
    return { usageObject: answer, usage: openaiUsage(answer['usage']), message, further };
  },

  readStream: (facts, wantsMessage) => new ChunkReader(facts, wantsMessage),
  ...openaiErrors,
};

function canonicalChat(given: JsonObject, role: string): CanonicalMessage {
  const message = whole(given);
  const said = nothingSaid();
  readContent(message['content'], said);
  for (const call of readCalls(message)) said.calls.push(call);
  return canonicalMessage(role, said);
}

/** `tool_calls` of functions and custom tools, and the older `function_call`. */
function readCalls(message: JsonObject): Call[] {
  const calls = listOf(message['tool_calls']).map(objectOf);
  if (isObject(message['function_call'])) calls.push({ function: message['function_call'] });
  return calls.map((call) => {
    const called = objectOf(call['function'] ?? call['custom']);
    return {
      name: stringOf(called['name']),
      arguments: called['arguments'] ?? called['input'],
      id: stringOf(call['id']),
    };
  });
}
