import { makeRandom } from '../numbers.js';

export const MODEL = 'bench';
export const PATH = '/v1/chat/completions';
export const HEADERS = { 'content-type': 'application/json' };
const WORDS = `the a of to and in is that for with run test file error line module import return value expect function
  class path open read write commit branch build token queue engine call program (self, None) == {} [] "ok" \\n`.split(
  /\s+/,
);

/** Text of `length` characters like that of a coding agent. */
export function prose(random: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += `${WORDS[Math.floor(random() * WORDS.length)]}${random() < 0.1 ? '\n' : ' '}`;
  return text.slice(0, length);
}

/**
 * A chat request of `bytes` bytes like a coding agent's. It has a system prompt, a task, then turns of a short answer
 * with a tool call and a longer tool result.
 */
export function chatBody(bytes: number, stream: boolean): string {
  const random = makeRandom(bytes);
  const messages: object[] = [
    { role: 'system', content: prose(random, 600) },
    { role: 'user', content: prose(random, 600) },
  ];
  const body = () => JSON.stringify({ model: MODEL, stream, max_tokens: 256, temperature: 0, messages });
  for (let left = bytes - body().length; left > 1500; left = bytes - body().length) {
    const turns = left > 20_000 ? 8 : 1;
    for (let i = 0; i < turns; i += 1) {
      const id = `call_${Math.floor(random() * 2 ** 48)
        .toString(16)
        .padStart(12, '0')}`;
      const call = { name: 'bash', arguments: JSON.stringify({ command: prose(random, 80) }) };
      messages.push({
        role: 'assistant',
        content: prose(random, 200),
        tool_calls: [{ id, type: 'function', function: call }],
      });
      messages.push({ role: 'tool', tool_call_id: id, content: prose(random, random() < 0.2 ? 2500 : 500) });
    }
  }
  const rest = bytes - body().length - JSON.stringify({ role: 'user', content: '' }).length - 1;
  messages.push({ role: 'user', content: 'x'.repeat(Math.max(1, rest)) });
  return body();
}
