import { describe, expect, it } from 'vitest';
import { dataOf, engine, post, stream, type Json } from './client.js';

const PARAMETERS = {
  type: 'object',
  required: ['command', 'level', 'tags', 'mode', 'nested', 'maybe'],
  properties: {
    command: { type: 'string' },
    level: { type: 'integer', minimum: 3, maximum: 9 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
    mode: { enum: ['slow', 'fast'] },
    nested: { $ref: '#/$defs/point' },
    maybe: { anyOf: [{ type: 'null' }, { type: 'string' }] },
    optional: { type: 'string' },
  },
  $defs: { point: { type: 'object', required: ['x'], properties: { x: { type: 'number', exclusiveMinimum: 2 } } } },
};
const SAMPLE = {
  command: 'echo maitred',
  level: 3,
  tags: ['sample', 'sample'],
  mode: 'slow',
  nested: { x: 2.5 },
  maybe: null,
};
/** What the loop saw: the arguments of each call, the ids, the last text, and the usage of each step. */
interface Loop {
  readonly calls: { id: string; arguments: unknown }[];
  text: string;
  readonly prompts: { tokens: number; cached: number }[];
}

type Step = (history: Json[], loop: Loop) => Promise<Json[]>;

/** Plays an agent until the engine makes no call: `step` sends the history, and returns what to add to it. */
async function play(history: Json[], step: Step): Promise<Loop> {
  const loop: Loop = { calls: [], text: '', prompts: [] };
  for (let turn = 0; turn < 10 && loop.text === ''; turn += 1) history.push(...(await step(history, loop)));
  return loop;
}

function expectThreeSteps({ calls, text, prompts }: Loop): void {
  expect(calls.map((entry) => entry.arguments)).toEqual([SAMPLE, SAMPLE]);
  expect(new Set(calls.map((entry) => entry.id)).size).toBe(2);
  expect(text.length).toBeGreaterThan(20);
  expect(prompts).toHaveLength(3);
  // Each step finds all of the step before in the cache, its answer too: all but a block at the seam.
  for (const index of [1, 2]) {
    const { tokens } = prompts[index - 1] ?? { tokens: 0 };
    expect(prompts[index]?.cached).toBeGreaterThanOrEqual(Math.floor(tokens / 16) * 16);
  }
}

describe('a tool loop ends by itself in three steps', () => {
  const tools = [{ type: 'function', function: { name: 'run', parameters: PARAMETERS } }];

  it('chat completions', async () => {
    const sim = await engine();
    const loop = await play([{ role: 'user', content: 'Do it. '.repeat(50) }], async (messages, seen) => {
      const { json } = await post(sim, '/v1/chat/completions', { messages, tools });
      const [choice] = json['choices'] as { message: Json; finish_reason: string }[];
      const message = choice?.message ?? {};
      const usage = json['usage'] as { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
      seen.prompts.push({ tokens: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens });
      // A message without calls has no list of them.
      const calls = (message['tool_calls'] ?? []) as { id: string; function: { arguments: string } }[];
      expect(choice?.finish_reason).toBe(calls.length > 0 ? 'tool_calls' : 'stop');
      if (calls.length === 0) seen.text = String(message['content']);
      for (const { id, function: target } of calls) seen.calls.push({ id, arguments: JSON.parse(target.arguments) });
      return [message, ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'maitred' }))];
    });
    expectThreeSteps(loop);
  });

  it('responses, the arguments written anew by the client', async () => {
    const sim = await engine();
    const flat = [{ type: 'function', name: 'run', parameters: PARAMETERS }];
    const loop = await play([{ role: 'user', content: 'Do it. '.repeat(50) }], async (input, seen) => {
      const { json } = await post(sim, '/v1/responses', { input, tools: flat });
      const output = json['output'] as Json[];
      const usage = json['usage'] as { input_tokens: number; input_tokens_details: { cached_tokens: number } };
      seen.prompts.push({ tokens: usage.input_tokens, cached: usage.input_tokens_details.cached_tokens });
      const added: Json[] = [];
      for (const item of output) {
        if (item['type'] === 'message') seen.text = (item['content'] as { text: string }[])[0]?.text ?? '';
        if (item['type'] !== 'function_call') continue;
        const parsed = JSON.parse(String(item['arguments'])) as unknown;
        seen.calls.push({ id: String(item['call_id']), arguments: parsed });
        added.push({ ...item, arguments: JSON.stringify(parsed, null, 2) });
        added.push({ type: 'function_call_output', call_id: item['call_id'], output: 'maitred' });
      }
      return added;
    });
    expectThreeSteps(loop);
  });
});

describe('tool choice', () => {
  const messages = [{ role: 'user', content: 'Do it.' }];
  const tools = ['first', 'second'].map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object' } },
  }));
  const named = { type: 'function', function: { name: 'second' } };

  it.each([
    ['auto', 'first'],
    ['required', 'first'],
    [named, 'second'],
    ['none', undefined],
  ])('%j calls %s', async (choice, called) => {
    const sim = await engine();
    const { json } = await post(sim, '/v1/chat/completions', { messages, tools, tool_choice: choice });
    const [entry] = json['choices'] as { message: { tool_calls?: { function: { name: string } }[] } }[];
    expect(entry?.message.tool_calls?.map((item) => item.function.name)).toEqual(called && [called]);
  });

  // Codex keeps the tools for its sub-agents in a namespace, and knows no call of theirs that does not say so.
  it.each([false, true])('a call of a tool in a namespace names the namespace (stream %j)', async (streamed) => {
    const sim = await engine({ script: (_, [first]) => ({ tool_calls: [{ name: first!.name, arguments: '{}' }] }) });
    const member = { type: 'function', name: 'spawn', parameters: { type: 'object' } };
    const space = { type: 'namespace', name: 'agents', description: '', tools: [member] };
    const body = { input: 'Do it.', tools: [{ type: 'web_search' }, space] };
    const item = { type: 'function_call', name: 'spawn', namespace: 'agents' };
    if (streamed) {
      const events = dataOf(await stream(sim, '/v1/responses', body));
      expect(events.find((event) => event['type'] === 'response.output_item.done')).toMatchObject({ item });
    } else {
      const { json } = await post(sim, '/v1/responses', body);
      expect(json['output']).toMatchObject([item]);
    }
  });
});
