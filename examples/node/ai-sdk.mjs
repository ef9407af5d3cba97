import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { GATEWAY, HEADERS, KEY, MODEL, QUESTION, report, STREAM, weather } from './task.mjs';

/** Vercel AI SDK, in its own tool loop. */
const maitred = createOpenAICompatible({ name: 'maitred', baseURL: `${GATEWAY}/v1`, apiKey: KEY, headers: HEADERS });
const { name, description, parameters, run } = weather;
const settings = {
  model: maitred(MODEL),
  prompt: QUESTION,
  tools: { [name]: tool({ description, inputSchema: jsonSchema(parameters), execute: run }) },
  stopWhen: stepCountIs(10),
};
report(STREAM ? await streamText(settings).text : (await generateText(settings)).text);
