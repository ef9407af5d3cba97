import { describe, expect, it } from 'vitest';
import { callOf, itReadsRecorded, readText, readWhole } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';

describe('a request of azure', () => {
  it('is a program of one call, with its time and lengths', async () => {
    const text = `${HEADER}\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:40,0,0\r\n`;
    expect(await readWhole(text, 'azure')).toEqual([
      { id: 'request-2', arrivalMs: 1_700_158_546_680, calls: [callOf({ promptTokens: 374, outputTokens: 44 })] },
      { id: 'request-3', arrivalMs: 1_700_158_540_000, calls: [callOf({ promptTokens: 0, outputTokens: 0 })] },
    ]);
  });

  it.each([
    ['2023-11-16 18:15:46,374', 'GeneratedTokens'],
    ['2023-11-16 18:15:46,374,44,1', ''],
    ['2023-11-16 18:15:46,-1,44', 'ContextTokens'],
    ['2023-11-16 18:15:46,,44', 'ContextTokens'],
    ['2023-11-16 18:15:46,374,4.5', 'GeneratedTokens'],
    ['2023-13-16 18:15:46,374,44', 'TIMESTAMP'],
    ['yesterday,374,44', 'TIMESTAMP'],
    ['1923-11-16 18:15:46,374,44', 'TIMESTAMP'],
  ])('%s is left out, and told', async (row, field) => {
    const last = '2023-11-16 18:15:50,1,1';
    const { programs, problems } = await readText(`${HEADER}\n${row}\n${last}\n`);
    expect(problems).toEqual([`2 bad_field ${field}`.trim()]);
    expect(programs.map(({ id }) => id)).toEqual(['request-3']);
  });
});

itReadsRecorded('azure', 'azure/AzureLLMInferenceTrace_conv.csv.gz', (programs) => {
  expect(programs).toHaveLength(19_366);
  const seconds = (programs.at(-1)!.arrivalMs! - programs[0]!.arrivalMs!) / 1000;
  expect(seconds / programs.length).toBeCloseTo(0.18, 2);
});

const good = { timestamp: 27_000, input_length: 1300, output_length: 52, hash_ids: [46, 47, 2366] };

describe('a request of mooncake', () => {
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
