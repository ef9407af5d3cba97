import type { Answer, JsonObject, LoadApi, Message, Step } from './api.js';
import { bodyOf, isObject, listOf, openaiEvent, openaiFields, quoted, takeUsage } from './json.js';

const event = (data: JsonObject, answer: Answer): Step =>
  openaiEvent(data, answer, ({ text }) => {
    if (typeof text !== 'string') return 'alien';
    answer.text += text;
    return text === '' ? 'other' : 'part';
  });

/** POST /v1/completions: a conversation is one text, in which each answer directly follows its prompt. */
export const completions: LoadApi = {
  path: '/v1/completions',
  endsWithMark: true,
  item: (message) => quoted(message.isPlain === true ? plain(message) : said(message)).slice(1, -1),
  body: (ask) =>
    bodyOf(
      {
        ...openaiFields(ask),
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

function whole(body: JsonObject, answer: Answer): boolean {
  const [choice] = listOf(body['choices']);
  if (!isObject(choice) || typeof choice['text'] !== 'string') return false;
  answer.text = choice['text'];
  takeUsage(body['usage'], answer);
  return true;
}
