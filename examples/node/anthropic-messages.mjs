import Anthropic from '@anthropic-ai/sdk';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** Anthropic messages, with the tool loop written out. The base URL is without `/v1`. */
const client = new Anthropic({ baseURL: GATEWAY, apiKey: KEY, defaultHeaders: HEADERS });
const { name, description, parameters, run } = weather;
const tools = [{ name, description, input_schema: parameters }];

async function ask(messages) {
  const body = { model: MODEL, max_tokens: 1000, tools, messages };
  return STREAM ? client.messages.stream(body).finalMessage() : client.messages.create(body);
}

const messages = [{ role: 'user', content: QUESTION }];
let message = await ask(messages);
while (message.stop_reason === 'tool_use') {
  const calls = message.content.filter((block) => block.type === 'tool_use');
  const results = calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: run(input) }));
  messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  message = await ask(messages);
}
report(message.content.map((block) => block.text ?? '').join(''));
