import { describe, expect, it } from 'vitest';
import { Declarations } from '../../../sim/virtual/declared.js';
import { Draws } from '../../../sim/virtual/draws.js';
import { Job, type Played } from '../../../sim/virtual/job.js';
import { ProgramRun } from '../../../sim/virtual/program-run.js';
import { inChain } from '../../../workloads/index.js';

const CALLS = inChain([
  { gapMs: 0, promptTokens: 1_000, outputTokens: 50, prefix: { name: 'system', tokens: 400 } },
  { gapMs: 10, promptTokens: 1_200, outputTokens: 30, prefix: { call: 0, tokens: 1_050 } },
  { gapMs: 10, promptTokens: 1_300, outputTokens: 20 },
]);

/** The calls of the run's program with this index. */
function jobs(index: number): Job[] {
  const run = new ProgramRun({ id: `program-${index}`, calls: CALLS }, 0);
  const played = { id: `p${index}`, index, run } as unknown as Played;
  return CALLS.map((_, call) => new Job(played, call, 100_000));
}

describe('declared work', () => {
  it('is the uncached prompt and the answer of this call and of all later ones', () => {
    const declarations = new Declarations(1, new Draws(1));
    expect(jobs(0).map((job) => declarations.remaining(job))).toEqual([
      { promptTokens: 600 + 150 + 1_300, outputTokens: 100 },
      { promptTokens: 150 + 1_300, outputTokens: 50 },
      { promptTokens: 1_300, outputTokens: 20 },
    ]);
  });

  it('is wrong by one factor a program, up or down, and no more than the spread', () => {
    const declarations = new Declarations(4, new Draws(1));
    const factors = Array.from({ length: 200 }, (_, index) => {
      const [first, , last] = jobs(index).map((job) => declarations.remaining(job).promptTokens);
      expect(last! / 1_300).toBeCloseTo(first! / 2_050, 2);
      return first! / 2_050;
    });
    expect(Math.min(...factors)).toBeGreaterThanOrEqual(0.249);
    expect(Math.max(...factors)).toBeLessThanOrEqual(4.001);
    expect(factors.filter((factor) => factor > 1).length).toBeGreaterThan(60);
    expect(factors.filter((factor) => factor < 1).length).toBeGreaterThan(60);
  });
});
