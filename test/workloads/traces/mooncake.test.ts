import { describe, expect, it } from 'vitest';
import { callOf, itReadsRecorded, readText, readWhole } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const good = { timestamp: 27_000, input_length: 1300, output_length: 52, hash_ids: [46, 47, 2366] };

describe('a request', () => {
  it('is a program of one call, with the blocks of its trace', async () => {
    const prefix = { blocks: [46, 47, 2366], blockTokens: 512 };
    expect(await readWhole(`\n${jsonLines([good])}`, 'mooncake')).toEqual([
      { id: 'request-2', arrivalMs: 27_000, calls: [callOf({ promptTokens: 1300, outputTokens: 52, prefix })] },
    ]);
  });

  it.each([
    ['timestamp', -1],
    ['timestamp', '0'],
    ['input_length', undefined],
    ['input_length', 1e12],
    ['output_length', 2.5],
    ['hash_ids', [1, null]],
    ['hash_ids', [1, 2, 3, 4]],
  ])('with %s of %j is left out, and told', async (field, value) => {
    const { programs, problems } = await readText(jsonLines([good, { ...good, [field]: value }]));
    expect(problems).toEqual([expect.stringMatching(`^2 bad_field ${field}`)]);
    expect(programs).toHaveLength(1);
  });
});

itReadsRecorded('mooncake', 'mooncake/synthetic_trace.jsonl.gz', (programs) => {
  expect(programs).toHaveLength(3993);
  expect(programs.at(-1)?.arrivalMs).toBe(1_022_025);
});
