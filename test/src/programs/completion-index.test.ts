import { describe, expect, it } from 'vitest';
import { CompletionIndex, serviceClassOf } from '../../../src/programs/completion-index.js';

/** An index that has seen programs of these amounts of service end. */
function learnt(services: readonly number[], rounds: number): CompletionIndex {
  const index = new CompletionIndex();
  for (let round = 0; round < rounds; round += 1)
    for (const service of services) {
      index.recordService(0, service);
      index.ended(service);
    }
  return index;
}

const at = (index: CompletionIndex, serviceMs: number): number => index.hazardIndexOf(serviceClassOf(serviceMs));

describe('the completion index', () => {
  it('has a class for each doubling of service', () => {
    expect([0, 0.9, 1, 1.9, 2, 3.9, 4, 1000, 2 ** 40].map(serviceClassOf)).toEqual([0, 0, 1, 1, 2, 2, 3, 10, 31]);
  });

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
    const { hazardIndexOf } = index.lastComputed;
    expect(hazardIndexOf(serviceClassOf(100))).toBe(0);
    const read = at(index, 100);
    expect(hazardIndexOf(serviceClassOf(100))).toBe(read);
    expect(read).toBeGreaterThan(0);
  });

  it('is level where all programs are alike, however far they have come', () => {
    const index = learnt([9_000, 10_000, 11_000], 200);
    expect(index.isLearnt).toBe(true);
    expect(at(index, 4_500) / at(index, 100)).toBeGreaterThan(0.9);
  });

  it('falls steeply between the short and the long of a mixture', () => {
    const index = learnt([1_000, 1_000, 1_000, 1_000, 200_000], 200);
    expect(at(index, 100) / at(index, 10_000)).toBeGreaterThan(20);
    expect(at(index, 10_000)).toBeGreaterThan(0);
  });

  it('forgets service as it forgets ends: what was long ago does not make programs look longer', () => {
    expect(at(learnt([10_000], 10_000), 100) * 10_000).toBeGreaterThan(0.5);
  });

  it('never rises with service', () => {
    const index = learnt([100, 5_000, 5_000, 90_000], 100);
    const all = Array.from({ length: 32 }, (_, kind) => index.hazardIndexOf(kind));
    expect(all).toEqual(all.toSorted((a, b) => b - a));
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
