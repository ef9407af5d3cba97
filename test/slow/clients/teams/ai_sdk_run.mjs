// AI SDK: an agent in a tool of another, as a stream or not: node FILE URL RUNS [stream]
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [url, runs, kind] = process.argv.slice(2);
const stopWhen = stepCountIs(6);

async function textOf(options) {
  if (kind !== 'stream') return (await generateText(options)).text;
  const result = streamText(options);
  await result.consumeStream();
  return result.text;
}

const get_weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `sun in ${city}`,
});

async function one(run) {
  const model = createOpenAICompatible({ name: 'engines', baseURL: `${url}/v1`, apiKey: `run-${run}` })('llama-3.1-8b');
  const ask_expert = tool({
    description: 'Asks the expert.',
    inputSchema: z.object({ task: z.string() }),
    execute: ({ task }) =>
      textOf({ model, system: 'You know the weather.', prompt: task, tools: { get_weather }, stopWhen }),
  });
  const prompt = `Plan the journey number ${run} through the mountains.`;
  await textOf({ model, system: 'You plan.', prompt, tools: { ask_expert }, stopWhen });
}

await Promise.all(Array.from({ length: Number(runs) }, (_, run) => one(run)));
console.log('done');
