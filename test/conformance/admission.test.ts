import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADMISSION_NAMES } from '../../src/index.js';
import type { Joining } from '../../src/policies/admission.js';
import { admissionOf } from '../../src/policies/by-name.js';

const positive = (max: number) => fc.double({ min: 1e-6, max, noNaN: true });

/** Any call in front of any batch. */
const joining: fc.Arbitrary<Joining> = fc.record({
  index: positive(1),
  serviceMs: fc.double({ min: 1, max: 1e7, noNaN: true }),
  waitedMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  loadTokens: fc.integer({ min: 1, max: 200_000 }),
  batchIndex: positive(100),
  batchTokens: fc.integer({ min: 1, max: 1_000_000 }),
  emptyMs: positive(1_000),
  msPerToken: fc.double({ min: 0, max: 0.1, noNaN: true }),
  takenShare: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe.each(ADMISSION_NAMES)('the admission policy %s', (name) => {
  const policy = admissionOf(name);

  it('lets every call into an empty batch that it does not slow down', () => {
    fc.assert(
      fc.property(joining, (call) => policy.admits({ ...call, batchIndex: 0, batchTokens: 0 })),
      { seed: 1, numRuns: 500 },
    );
  });

  it('lets a call in after a longer wait that it let in before', () => {
    fc.assert(
      fc.property(joining, positive(1e9), (call, moreMs) => {
        return !policy.admits(call) || policy.admits({ ...call, waitedMs: call.waitedMs + moreMs });
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  it('holds no call for ever', () => {
    fc.assert(
      fc.property(joining, (call) => policy.admits({ ...call, waitedMs: 1e15 })),
      { seed: 3, numRuns: 500 },
    );
  });

  it('never holds calls that are alike, however many there are', () => {
    const alike = fc.tuple(joining, fc.integer({ min: 1, max: 1_000 })).map(([call, calls]) => ({
      ...call,
      batchIndex: calls * call.index,
      batchTokens: calls * call.loadTokens,
    }));
    fc.assert(
      fc.property(alike, (call) => policy.admits(call)),
      { seed: 4, numRuns: 500 },
    );
  });
});

describe('the engine’s knee', () => {
  const knee = admissionOf('knee');
  /** A long program's call in front of a batch of fifty short ones. */
  const long: Joining = {
    index: 1 / 100_000,
    serviceMs: 100_000,
    waitedMs: 0,
    loadTokens: 5_000,
    batchIndex: 50 / 2_000,
    batchTokens: 400_000,
    emptyMs: 10,
    msPerToken: 1e-4,
    takenShare: 0.8,
  };

  it('holds a long program’s call that would slow short ones', () => {
    expect(knee.admits(long)).toBe(false);
  });

  it.each<[string, Partial<Joining>]>([
    ['below the knee', { batchTokens: 200_000 }],
    ['of a short program', { index: 1 / 2_000, serviceMs: 2_000 }],
    ['that has waited twice as long as its program has run', { waitedMs: 200_000 }],
    ['where the cache is scarcer than the step', { takenShare: 0.81 }],
  ])('lets a call in %s', (_, change) => {
    expect(knee.admits({ ...long, ...change })).toBe(true);
  });

  it('is not known to the policy `none`', () => {
    expect(admissionOf('none').admits(long)).toBe(true);
  });
});
