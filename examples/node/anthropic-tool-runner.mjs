import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** Anthropic messages, in the client's own tool loop. */
const client = new Anthropic({ baseURL: GATEWAY, apiKey: KEY, defaultHeaders: HEADERS });
const { name, description, parameters, run } = weather;
const runner = client.beta.messages.toolRunner({
  model: MODEL,
  max_tokens: 1000,
  stream: STREAM,
  messages: [{ role: 'user', content: QUESTION }],
  tools: [betaTool({ name, description, inputSchema: parameters, run })],
});
const message = await runner.runUntilDone();
report(message.content.map((block) => block.text ?? '').join(''));
