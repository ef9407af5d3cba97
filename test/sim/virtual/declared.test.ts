import { describe, expect, it } from 'vitest';
import { Declarations } from '../../../sim/virtual/declared.js';
import { Draws } from '../../../sim/virtual/faults.js';
import { Job, type Played } from '../../../sim/virtual/job.js';
import { ProgramRun } from '../../../sim/virtual/program-run.js';
import { inChain } from '../../../workloads/index.js';

const CALLS = inChain([
  { gapMs: 0, promptTokens: 1_000, outputTokens: 50, prefix: { name: 'system', tokens: 400 } },
  { gapMs: 10, promptTokens: 1_200, outputTokens: 30, prefix: { call: 0, tokens: 1_050 } },
  { gapMs: 10, promptTokens: 1_300, outputTokens: 20 },
]);

/** The calls of the run's program with this index. */
function jobs(index: number, calls = CALLS, arrivedMs = 0): Job[] {
  const run = new ProgramRun({ id: `program-${index}`, calls }, arrivedMs);
  const played = { id: `p${index}`, index, run } as unknown as Played;
  return calls.map((_, call) => new Job(played, call, 100_000));
}

describe('declared work', () => {
  it('is the uncached prompt and the answer of this call and of all later ones', () => {
    const declarations = new Declarations(new Draws(1));
    const left = jobs(0).map((job) => declarations.remaining(job));
    expect(left.map(({ promptTokens }) => promptTokens)).toEqual([600 + 150 + 1_300, 150 + 1_300, 1_300]);
    expect(left.map(({ outputTokens }) => outputTokens)).toEqual([100, 50, 20]);
  });

  it('is wrong by one factor a program, up or down, and no more than the spread', () => {
    const declarations = new Declarations(new Draws(1), { spread: 4, mistakenShare: 0 });
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

  it('is that of the program before where a graph is wrong, and its last call’s for as long as the program goes on', () => {
    const declarations = new Declarations(new Draws(1), { spread: 1, mistakenShare: 1 });
    const short = jobs(
      0,
      inChain([
        { gapMs: 0, promptTokens: 9, outputTokens: 7 },
        { gapMs: 30, promptTokens: 5, outputTokens: 3 },
      ]),
    );
    const outputs = (calls: readonly Job[]) => calls.map((job) => declarations.remaining(job).outputTokens);
    expect(outputs(short)).toEqual([10, 3]); // Nothing came before it.
    expect(outputs(jobs(1))).toEqual([10, 3, 3]);
    expect(outputs(jobs(2))).toEqual([100, 50, 20]);
  });
});
