import { describe, expect, it } from 'vitest';
import type { Eviction } from '../../../sim/engine/pages.js';
import { Job, type Played } from '../../../sim/virtual/job.js';
import { ProgramRun } from '../../../sim/virtual/program-run.js';
import { play, PRESET, programOf, type CallFacts } from '../../support/sim-play.js';

const context = { promptTokens: 3000, outputTokens: 10 };
/** Continues the whole conversation of its program's first call. */
const later: CallFacts = { promptTokens: 3100, outputTokens: 10, prefix: { call: 0, tokens: 3010 } };
const aside = { promptTokens: 100, outputTokens: 10, thread: 'aside' };

/** A program that needs its first context after three other calls. */
const FAR = [context, { ...aside, gapMs: 30_000 }, aside, aside, later];

describe('engines that are told what to evict', () => {
  /** Tokens that the later calls of two programs find again, after a prompt for which their engine had no room. */
  function found(eviction?: Eviction): number[] {
    const programs = [
      programOf('near', 0, [context, { ...later, gapMs: 20_000 }]),
      programOf('far', 2000, FAR),
      programOf('ended', 4000, [{ promptTokens: 2500, outputTokens: 10 }]),
      programOf('large', 10_000, [{ promptTokens: 6000, outputTokens: 10 }]),
    ];
    const engine = { preset: { ...PRESET, kvTokens: 10_000 }, blockSize: 16, ...(eviction && { eviction }) } as const; // prettier-ignore
    const { callRecords } = play(programs, { policy: 'pass-through', engines: 1, engine, announceEnds: true });
    return ['near', 'far'].map((id) => callRecords.findLast(({ program }) => program === id)!.cachedTokens);
  }

  it('give away what was idle for longest, or what is needed last', () => {
    const all = 3008;
    const [lru, steps] = [found('lru'), found('steps')] as [[number, number], [number, number]];
    expect([lru[0], steps[0]]).toEqual([0, all]);
    expect(lru[1]).toBeLessThan(all);
    expect(steps[1]).toBeLessThan(all / 2);
    expect(found()).toEqual(lru);
  });
});

describe('the steps until a context is used', () => {
  const after = (calls: readonly CallFacts[], ...completed: readonly number[]): Record<string, number> => {
    const run = new ProgramRun(programOf('p', 0, calls), 0);
    for (const call of completed) run.completed(call, 1, 1);
    return Object.fromEntries(run.stepsToUse());
  };

  it('are the calls that must end first, one after the other', () => {
    expect(after(FAR, 0)).toEqual({ '': 3, aside: 0 });
    expect(after(FAR, 0, 1)).toEqual({ '': 2, aside: 0 });
    expect(after(FAR, 0, 1, 2, 3)).toEqual({ '': 0 });
    expect(after(FAR, 0, 1, 2, 3, 4)).toEqual({});
    // Of the longest way to a join.
    const other = { ...aside, after: [1], thread: 'other' };
    const join = [context, { ...aside, after: [0] }, other, { ...later, after: [0, 1, 2] }];
    expect(after(join, 0)).toEqual({ '': 2, aside: 0, other: 1 });
    // To the first that continues it, in whatever thread.
    const fork = [context, { ...aside, after: [0] }, { ...later, after: [1], thread: 'fork' }];
    expect(after(fork, 0)).toEqual({ '': 1, aside: 0, fork: 1 });
  });

  it('give no context to a call that is run again for a thread at its end', () => {
    const run = new ProgramRun(programOf('p', 0, [context]), 0);
    const job = new Job({ id: 'p0', run } as Played, 0, 10_000);
    expect(job.context).toBe('p0/');
    run.completed(0, 1, 1);
    expect(job.context).toBeUndefined();
  });
});
