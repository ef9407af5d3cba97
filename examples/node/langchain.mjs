import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** LangChain, with the loop written out. */
const { name, description, parameters, run } = weather;
const getWeather = tool(run, { name, description, schema: parameters });
const configuration = { baseURL: `${GATEWAY}/v1`, defaultHeaders: HEADERS };
const model = new ChatOpenAI({ model: MODEL, apiKey: KEY, configuration }).bindTools([getWeather]);

async function ask(messages) {
  if (!STREAM) return model.invoke(messages);
  let whole;
  for await (const chunk of await model.stream(messages)) whole = whole === undefined ? chunk : whole.concat(chunk);
  return whole;
}

const messages = [new HumanMessage(QUESTION)];
for (;;) {
  const answer = await ask(messages);
  messages.push(answer);
  if (answer.tool_calls.length === 0) break;
  for (const call of answer.tool_calls) messages.push(await getWeather.invoke(call));
}
report(messages.at(-1).text);
