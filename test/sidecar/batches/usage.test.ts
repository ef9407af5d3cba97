import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Results, wholeLine } from '../../../sidecar/batches/results.js';
import { folderOf } from '../../support/folder.js';

const disk = { isOurs: () => true, failed: () => Promise.resolve(false) };

const ANSWERS = [
  // Of chats, of the API of responses, of Anthropic's messages, of embeddings; the last ones tell nothing of use.
  {
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  },
  {
    usage: {
      input_tokens: 1000,
      output_tokens: 200,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 50 },
    },
  },
  { usage: { input_tokens: 3, cache_read_input_tokens: 30, cache_creation_input_tokens: 7, output_tokens: 9 } },
  { data: ['x'.repeat(100_000)], usage: { prompt_tokens: 10_000, total_tokens: 10_000 } },
  { usage: { prompt_tokens: 'many', completion_tokens: -1, prompt_tokens_details: null } },
  { usage: null },
  {},
  'no JSON',
];

const usage = (input: number, cached: number, output: number, reasoning: number) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

it('sums the tokens of all answers, of whatever API, also after a restart', async () => {
  const folder = folderOf({});
  const open = () =>
    Results.open(
      'b',
      ANSWERS.map((_, line) => ({ line })),
      { output: join(folder, 'out'), errors: join(folder, 'err') },
      disk,
    );
  const results = await open();
  expect(results.usage).toEqual(usage(0, 0, 0, 0));
  for (const [index, body] of ANSWERS.entries()) {
    const response = { status_code: 200, request_id: 'r', body };
    // The same again is no second answer.
    for (let times = 0; times < 2; times += 1)
      await results.keep(wholeLine(index), 'id', { state: 'completed', response, error: null });
  }
  const sum = usage(11_140, 90, 229, 55);
  expect(results.usage).toEqual(sum);
  await results.close();
  const again = await open();
  expect(again.usage).toEqual(sum);
  await again.close();
});
