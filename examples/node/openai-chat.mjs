import OpenAI from 'openai';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** Chat completions, in the client's own tool loop. */
const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY, defaultHeaders: HEADERS });
const { name, description, parameters, run } = weather;
const runner = client.chat.completions.runTools({
  model: MODEL,
  stream: STREAM,
  messages: [{ role: 'user', content: QUESTION }],
  tools: [{ type: 'function', function: { name, description, parameters, function: run, parse: JSON.parse } }],
});
report(await runner.finalContent());
