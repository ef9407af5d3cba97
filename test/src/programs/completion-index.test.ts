import { describe, expect, it } from 'vitest';
import { CompletionIndex } from '../../../src/programs/completion-index.js';

/** An index that has seen programs of these amounts of service end. */
function learnt(services: readonly number[], rounds: number, index = new CompletionIndex()): CompletionIndex {
  for (let round = 0; round < rounds; round += 1)
    for (const service of services) {
      index.recordService(0, service);
      index.ended(service);
    }
  return index;
}

const at = (index: CompletionIndex, serviceMs: number): number => 1 / index.msToEnd(serviceMs);

describe('the completion index', () => {
  it('falls as 1 / service before anything was seen: least attained service first', () => {
    const index = new CompletionIndex();
    for (let serviceMs = 16; serviceMs < 1e6; serviceMs *= 2)
      expect(at(index, serviceMs) / at(index, 2 * serviceMs)).toBeCloseTo(2, 6);
    expect(index.isLearnt).toBe(false);
  });

  it('is learnt once all gateways together have seen enough programs end, and stays so', () => {
    const index = learnt([1_000], 12);
    expect(index.endedHere).toBe(12);
    index.share(19);
    expect(index.isLearnt).toBe(false);
    index.share(20);
    // Another gateway has left.
    index.share(0);
    expect(index.isLearnt).toBe(true);
    expect(learnt([1_000], 100).endedHere).toBe(32);
  });

  it('is shown as last read: looking does not bring the next reading forward', () => {
    const index = learnt([1_000], 100);
    expect(index.medianMsToEnd(100)).toBe(Infinity);
    index.refresh();
    expect(index.medianMsToEnd(100)).toBeLessThan(Infinity);
  });

  it('tells within which further service half of such programs end, be a few of them short', () => {
    const index = learnt([1, 7_000, 9_000, 10_000, 11_000, 14_000], 600);
    index.refresh();
    for (const [serviceMs, restMs] of [
      [0, 9_500],
      [5_000, 5_000],
      [8_500, 2_500],
    ] as const) {
      const told = index.medianMsToEnd(serviceMs);
      expect(told / restMs, `${serviceMs}: ${told}`).toBeGreaterThan(0.6);
      expect(told / restMs, `${serviceMs}: ${told}`).toBeLessThan(1.5);
    }
    // The ranking goes by the quickest ends.
    expect(index.msToEnd(0)).toBeLessThan(100);
  });

  it('rises with service where all programs are alike: the oldest is the nearest to its end', () => {
    const index = learnt([9_000, 10_000, 11_000], 200);
    expect(index.isLearnt).toBe(true);
    expect(at(index, 4_500)).toBeGreaterThan(1.1 * at(index, 100));
  });

  it('falls steeply between the short and the long of a mixture', () => {
    const index = learnt([1_000, 1_000, 1_000, 1_000, 200_000], 200);
    expect(at(index, 100) / at(index, 10_000)).toBeGreaterThan(20);
    expect(at(index, 10_000)).toBeGreaterThan(0);
  });

  it('forgets service as it forgets ends: what was long ago does not make programs look longer', () => {
    expect(at(learnt([10_000], 10_000), 100) * 10_000).toBeGreaterThan(0.5);
  });

  it('expects as much as ever of programs longer than any in half a million', () => {
    const index = new CompletionIndex();
    const type = new CompletionIndex(index);
    learnt([1_000, 60_000], 250, type);
    const first = [2 ** 20, 2 ** 25].map((serviceMs) => type.msToEnd(serviceMs));
    learnt([1_000, 60_000], 250_000, type);
    [2 ** 20, 2 ** 25].forEach((serviceMs, i) => expect(type.msToEnd(serviceMs) / first[i]!).toBeCloseTo(1, 3));
  });

  it('takes back the end of a program that returns', () => {
    const [kept, revived] = [learnt([1_000], 100), learnt([1_000], 100)];
    for (let times = 0; times < 80; times += 1) revived.revived(1_000);
    kept.recordService(0, 32_000);
    revived.recordService(0, 32_000);
    for (let times = 0; times < 40; times += 1) {
      kept.recordService(0, 0);
      revived.recordService(0, 0);
    }
    expect(at(revived, 500)).toBeLessThan(at(kept, 500) / 2);
  });
});

describe('the index of an agent type', () => {
  it('is that of all programs until its own have run', () => {
    const all = learnt([1_000, 1_000, 1_000, 200_000], 100);
    const type = new CompletionIndex(all);
    for (const serviceMs of [0, 100, 10_000, 100_000])
      expect(type.msToEnd(serviceMs)).toBeCloseTo(all.msToEnd(serviceMs), 6);
  });

  it('of programs of one size nears that size however rare they are, and teaches that of all', () => {
    const all = new CompletionIndex();
    const [frequent, rare] = [new CompletionIndex(all), new CompletionIndex(all)];
    learnt([1_000], 2_000, frequent);
    learnt([64_000], 40, rare);
    expect(all.isLearnt).toBe(true);
    expect(frequent.msToEnd(0)).toBeLessThan(2_000);
    expect(rare.msToEnd(0)).toBeGreaterThan(16_000);
    // After so much, what all programs do says the same.
    expect(rare.msToEnd(50_000)).toBeLessThan(2 * all.msToEnd(50_000));
  });

  it('ranks types of equal sizes alike, however rare one is', () => {
    const all = new CompletionIndex();
    const [frequent, rare] = [new CompletionIndex(all), new CompletionIndex(all)];
    learnt([9_000, 10_000, 11_000], 1_000, frequent);
    learnt([9_000, 10_000, 11_000], 10, rare);
    for (const serviceMs of [0, 100, 5_000])
      expect(rare.msToEnd(serviceMs) / frequent.msToEnd(serviceMs)).toBeCloseTo(1, 0);
  });
});
