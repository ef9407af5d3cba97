/** What every example of this folder does: it asks for the weather in two cities, and lends the model a tool. */
export const QUESTION = 'What is the weather like in Paris, and what in Lisbon?';

export const GATEWAY = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080';
/** For the engines, if they want one; most clients insist on having one. */
export const KEY = process.env.API_KEY ?? 'none';
export const MODEL = process.env.MODEL ?? 'llama-3.1-8b';
export const STREAM = process.env.STREAM === '1';
/** Names the program outright; without it maitred recognises a program by its conversation. */
export const HEADERS = process.env.PROGRAM ? { 'x-maitred-program': process.env.PROGRAM } : {};

const SKIES = { Paris: 'sunny', Lisbon: 'rainy' };

export const weather = {
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', enum: Object.keys(SKIES) } },
    required: ['city'],
    additionalProperties: false,
  },
  run({ city }) {
    const result = `It is ${SKIES[city]} in ${city}.`;
    console.log(`get_weather: ${result}`);
    return result;
  },
};

export function report(answer) {
  console.log(`answer: ${answer}`);
}
