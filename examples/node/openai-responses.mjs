import OpenAI from 'openai';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** Responses. CONTINUE=history sends all items again with every call; else each call names the response before it. */
const sendsHistory = process.env.CONTINUE === 'history';
const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY, defaultHeaders: HEADERS });
const { name, description, parameters, run } = weather;
const tools = [{ type: 'function', name, description, parameters, strict: true }];

async function ask(input, previous) {
  const body = { model: MODEL, tools, input, previous_response_id: previous };
  return STREAM ? client.responses.stream(body).finalResponse() : client.responses.create(body);
}

let input = [{ role: 'user', content: QUESTION }];
let response = await ask(input);
for (;;) {
  const calls = response.output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) break;
  const results = calls.map((call) => ({
    type: 'function_call_output',
    call_id: call.call_id,
    output: run(JSON.parse(call.arguments)),
  }));
  input = sendsHistory ? [...input, ...response.output, ...results] : results;
  response = await ask(input, sendsHistory ? undefined : response.id);
}
report(response.output_text);
