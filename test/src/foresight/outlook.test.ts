import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Accuracy } from '../../../src/foresight/accuracy.js';
import { Calibration } from '../../../src/foresight/calibration.js';
import { Outlook } from '../../../src/foresight/outlook.js';
import { MlfqLevels } from '../../../src/policies/mlfq-levels.js';
import { CompletionIndex } from '../../../src/programs/completion-index.js';

/** As foresight makes the indices of agent types: their priors weigh next to nothing. */
const typeIndex = (): CompletionIndex => new CompletionIndex(0.01);
const levels = new MlfqLevels({ levels: 14, firstQuantumMs: 125, quantumRatio: 2 });

/** Two agent types and the outlooks of programs of them, after these many programs of each size have ended. */
function outlooks(counts: readonly [number, number], sizesMs: readonly [number, number]): readonly [Outlook, Outlook] {
  const all = typeIndex();
  const types = [typeIndex(), typeIndex()] as const;
  const outlookOf = (type: CompletionIndex): Outlook => new Outlook(type, all, new Calibration(), new Accuracy());
  // Alternately, as far as both have programs left.
  for (let program = 0; program < Math.max(...counts); program += 1)
    for (const kind of [0, 1] as const) {
      if (program >= counts[kind]) continue;
      const outlook = outlookOf(types[kind]);
      outlook.recordService(0, sizesMs[kind]);
      outlook.ended(sizesMs[kind], false);
    }
  return [outlookOf(types[0]), outlookOf(types[1])];
}

describe('agent types', () => {
  const count = fc.integer({ min: 32, max: 2_000 });
  const sizeMs = fc.double({ min: 10, max: 1e6, noNaN: true });

  it('of equal size rank equal, however rare one of them is: as by attained service', () => {
    fc.assert(
      fc.property(count, count, sizeMs, sizeMs, (rare, frequent, bothMs, attainedMs) => {
        for (const outlook of outlooks([rare, frequent], [bothMs, bothMs]))
          expect(outlook.rankMs(attainedMs, attainedMs)! / attainedMs).toBeCloseTo(1, 6);
      }),
      { numRuns: 30 },
    );
    const [rare, frequent] = outlooks([60, 12_000], [10_000, 10_000]);
    expect([rare, frequent].map((outlook) => levels.of(outlook.rankMs(100, 100)!))).toEqual([0, 0]);
  });

  it('of different sizes rank in their order and by their ratio, however rare one is', () => {
    fc.assert(
      fc.property(count, count, fc.double({ min: 2, max: 100, noNaN: true }), (small, large, ratio) => {
        const [short, long] = outlooks([small, large], [1_000, 1_000 * ratio]);
        const found = long.rankMs(500, 500)! / short.rankMs(500, 500)!;
        // Few programs are drawn towards the mean of all.
        expect(found).toBeGreaterThan(ratio / 16);
        expect(found).toBeGreaterThan(1);
        expect(found).toBeLessThan(ratio * 1.001);
      }),
      { numRuns: 30 },
    );
    const [short, long] = outlooks([1_000, 1_000], [1_000, 10_000]);
    expect(long.rankMs(500, 500)! / short.rankMs(500, 500)!).toBeCloseTo(9.7, 0);
  });

  it('are not told apart before enough programs have ended, or while more have come back than ended', () => {
    const [few] = outlooks([31, 500], [1_000, 10_000]);
    expect(few.rankMs(500, 500)).toBeUndefined();
    const [type] = outlooks([40, 40], [1_000, 1_000]);
    for (let program = 0; program < 80; program += 1) type.revived(1_000);
    expect(type.rankMs(500, 500)).toBeUndefined();
  });

  it('whose programs come back are larger than those that stay ended', () => {
    const [back, gone] = outlooks([100, 100], [1_000, 1_000]);
    for (let program = 0; program < 50; program += 1) back.revived(1_000);
    expect(back.rankMs(500, 500)! / gone.rankMs(500, 500)!).toBeGreaterThan(1.5);
  });
});

it('a declaration is judged once: at the presumed end of its program, and not again at the real one', () => {
  const declarations = new Calibration();
  const isTrustedAfter = (programs: number): boolean => {
    for (let program = 0; program < programs; program += 1) {
      const outlook = new Outlook(undefined, typeIndex(), declarations, new Accuracy());
      outlook.declare(1_000 << program, 0);
      outlook.presumedEnded(1_000 << program);
      outlook.ended(1_000 << program, true);
    }
    return declarations.expectedMs(1_000) !== undefined;
  };
  expect([isTrustedAfter(7), isTrustedAfter(1)]).toEqual([false, true]);
});
