/** A planner, then an agent with three kinds of tools: node ai-sdk-run.mjs URL GATEWAY generate|stream NAME */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai';
import { Program } from './maitred-ai-sdk.mjs';

const [url, gateway, how, id] = process.argv.slice(2) as [string, string, string, string];
console.warn = (text: string) => console.log(`warning: ${text}`);
const maitred = createOpenAICompatible({ name: 'maitred', baseURL: `${url}/v1`, apiKey: 'none' });
const inputSchema = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } });

const tools = {
  get_weather: tool({
    inputSchema,
    execute: ({ city }) => {
      if (city === 'Atlantis') throw new Error('no such city');
      return `sun in ${city}`;
    },
  }),
  book: tool({ inputSchema, execute: ({ city }) => Promise.resolve(`booked ${city}`) }),
  watch: tool({
    inputSchema,
    async *execute({ city }) {
      yield 'looking';
      await Promise.resolve();
      yield `saw ${city}`;
    },
  }),
};

const program = new Program({ gateway, id, workflow: 'trip' });
const named = (thread?: string) =>
  wrapLanguageModel({ model: maitred('llama-3.1-8b'), middleware: program.middleware(thread) });

console.log((await generateText({ model: named(), system: 'You plan.', prompt: 'Rome' })).text);
const settings = {
  model: named('work – “é”'),
  system: 'You work.',
  prompt: 'Rome',
  tools,
  stopWhen: stepCountIs(6),
};
const begun = performance.now();
console.log(how === 'stream' ? await streamText(settings).text : (await generateText(settings)).text);
await program.end();
console.log(`seconds: ${((performance.now() - begun) / 1000).toFixed(1)}`);
