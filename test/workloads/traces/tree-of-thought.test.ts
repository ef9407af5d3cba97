import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { itReadsRecorded, readText, readWhole, spoilt } from '../../support/traces.js';

const tree = (idx: number, prompt_tokens: number, completion_tokens: number) => ({
  idx,
  steps: [
    { step: 0, x: '4 5 6 10', ys: [''], new_ys: ['aaaa', 'bbbb', 'aaaa'], values: [1, 1, 0] },
    { step: 1, x: '4 5 6 10', ys: ['aaaa', 'bbbb'], new_ys: ['aaaaAAAAAAAA', 'aaaaBBBB'], values: [1, 1] },
  ],
  usage_so_far: { prompt_tokens, completion_tokens, cost: 1 },
});

describe('a search', () => {
  it('fans out over candidates and over proposals, and waits for all of them each time', async () => {
    const programs = await readWhole(JSON.stringify([tree(9, 711, 86)]), 'tree-of-thought');
    expect(programs.map(({ id }) => id)).toEqual(['tree-9']);
    const [{ calls }] = programs as [(typeof programs)[0]];
    expect(calls.map(({ after, gapMs, thread }) => ({ after, gapMs, thread }))).toEqual(
      [[], [0], [0], [1, 2], [1, 2], [3, 4], [3, 4]].map((after) => ({ after, gapMs: 0, thread: '' })),
    );
    // Candidates have 9 tokens in all, and 702 are left for seven calls; of the output proposals have 6, ratings the rest.
    expect(calls.map(({ promptTokens }) => promptTokens)).toEqual([100, 101, 101, 101, 101, 103, 102]);
    expect(calls.map(({ outputTokens }) => outputTokens)).toEqual([3, 20, 20, 3, 1, 20, 20]);
    expect(new Set(calls.map(({ prefix }) => JSON.stringify(prefix)))).toEqual(
      new Set(['propose', 'rate'].map((kind) => JSON.stringify({ name: `tree-of-thought-${kind}`, tokens: 100 }))),
    );
  });

  it('has what was used since the one before it, or since the sum began anew', async () => {
    const { programs } = await readText(JSON.stringify([tree(1, 709, 84), tree(2, 1418, 168), tree(3, 709, 84)]));
    const [first, second, third] = programs.map(({ calls }) => calls);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it.each([
    ['idx', 'x', 'bad_field idx'],
    ['steps', [], 'empty'],
    ['steps.0.ys', undefined, 'bad_field steps.0.ys'],
    ['steps.1.new_ys.0', 7, 'bad_field steps.1.new_ys.0'],
  ])('with %s of %j is left out, and told', async (path, value, problem) => {
    const list = [tree(1, 709, 84), spoilt(tree(2, 1418, 168), path, value)];
    const { programs, problems } = await readText(JSON.stringify(list));
    expect(problems).toEqual([`2 ${problem}`]);
    expect(programs).toHaveLength(1);
  });

  it('behind one whose sum is not known is left out too', async () => {
    const list = [tree(1, 709, 84), { ...tree(2, 0, 0), usage_so_far: {} }, tree(3, 2000, 300), tree(4, 2709, 384)];
    const { programs, problems } = await readText(JSON.stringify(list));
    expect(problems).toEqual(['2 bad_field usage_so_far.prompt_tokens', '3 bad_field usage_so_far']);
    expect(programs.map(({ id }) => id)).toEqual(['tree-1', 'tree-4']);
  });
});

const RECORDED = 'tree-of-thought/gpt-4_0.7_propose1_value3_greedy5_start900_end1000.json.gz';
itReadsRecorded('tree-of-thought', RECORDED, (programs, calls, path) => {
  expect(programs).toHaveLength(100);
  for (const { calls } of programs) {
    // One, then five candidates three times; and ratings only where something was proposed.
    expect(calls.filter(({ prefix }) => prefix && 'name' in prefix && prefix.name.endsWith('propose'))).toHaveLength(
      16,
    );
  }
  // The sum in the last record, but for what is rounded off: less than a token for each call.
  const recorded = JSON.parse(gunzipSync(readFileSync(path)).toString()) as ReturnType<typeof tree>[];
  const { prompt_tokens, completion_tokens } = recorded.at(-1)!.usage_so_far;
  const promptTokens = calls.reduce((sum, call) => sum + call.promptTokens, 0);
  const outputTokens = calls.reduce((sum, call) => sum + call.outputTokens, 0);
  expect(promptTokens).toBeLessThanOrEqual(prompt_tokens);
  expect(promptTokens).toBeGreaterThan(prompt_tokens - calls.length);
  expect(outputTokens).toBeLessThanOrEqual(completion_tokens);
  expect(outputTokens).toBeGreaterThan(completion_tokens - calls.length);
});
