import type { Answer, JsonObject, LoadApi, Message, Step } from './api.js';
import { bodyOf, exactly, isObject, listOf, quoted, takeUsage, textOf } from './json.js';

/** POST /v1/completions: a conversation is one text, in which each answer directly follows its prompt. */
export const completions: LoadApi = {
  path: '/v1/completions',
  endsWithMark: true,
  item: (message) => quoted(message.isPlain === true ? plain(message) : said(message)).slice(1, -1),
  body: (ask) =>
    bodyOf(
      {
        model: ask.model,
        max_tokens: ask.outputTokens,
        temperature: 0,
        ...exactly(ask),
        ...(ask.stream && { stream: true, stream_options: { include_usage: true } }),
        ...ask.fields,
      },
      'prompt',
      `"${ask.items.join('').trimStart()}"`,
    ),
  event,
  whole,
};

/** Words begin with the space that separates them from the text before. */
const plain = ({ role, text }: Message): Message => ({ role, text: ` ${text}`, isPlain: true });

function said({ role, text, toolCalls = [] }: Message): Message {
  if (role !== 'assistant') return { role, text: `\n\n${role}: ${text}` };
  return { role, text: [text, ...toolCalls.map((call) => `${call.name}(${call.arguments})`)].join('\n') };
}

function event(data: JsonObject, answer: Answer): Step {
  if (data['error'] !== undefined && data['error'] !== null) return 'error';
  if (data['usage'] !== undefined) takeUsage(data['usage'], answer);
  const { choices } = data;
  if (!Array.isArray(choices)) return data['usage'] === undefined ? 'alien' : 'other';
  const [choice] = choices as unknown[];
  if (choice === undefined) return 'other';
  if (!isObject(choice) || typeof choice['text'] !== 'string') return 'alien';
  answer.text += choice['text'];
  return choice['text'] === '' ? 'other' : 'part';
}

function whole(body: JsonObject, answer: Answer): boolean {
  const [choice] = listOf(body['choices']);
  if (!isObject(choice) || typeof choice['text'] !== 'string') return false;
  answer.text = textOf(choice['text']);
  takeUsage(body['usage'], answer);
  return true;
}
