import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calibration } from '../../../src/foresight/calibration.js';
import { Dice } from '../../../workloads/index.js';

/** A calibration after this many programs, each drawn by the dice. */
function learnt(
  programs: number,
  draw: (dice: Dice) => readonly [declaredMs: number, attainedMs: number],
): Calibration {
  const calibration = new Calibration();
  const dice = new Dice(1);
  for (let program = 0; program < programs; program += 1) calibration.learn(...draw(dice));
  return calibration;
}

/** A size between 1 s and some 15 minutes, each order of magnitude equally likely. */
const size = (dice: Dice): number => 1_000 * Math.exp(7 * dice.share());

describe('the calibration of declared sizes', () => {
  it('trusts none before some programs have ended', () => {
    const exact = (dice: Dice) => [size(dice), 0].fill(size(dice)) as [number, number];
    expect(learnt(7, exact).expectedMs(5_000)).toBeUndefined();
    expect(learnt(8, exact).expectedMs(5_000)).toBeCloseTo(5_000, 3);
  });

  it('corrects a factor that all declarations share', () => {
    const calibration = learnt(50, (dice) => {
      const attainedMs = size(dice);
      return [attainedMs * 4, attainedMs];
    });
    expect(calibration.expectedMs(40_000)).toBeCloseTo(10_000, 3);
    expect(calibration.explained).toBeCloseTo(1, 6);
  });

  it('draws scattered declarations towards the mean, but keeps their order', () => {
    const calibration = learnt(400, (dice) => {
      const attainedMs = size(dice);
      return [attainedMs * Math.exp(4 * dice.share() - 2), attainedMs];
    });
    const [little, much] = [calibration.expectedMs(1_000)!, calibration.expectedMs(1_000_000)!];
    expect(much / little).toBeLessThan(1_000);
    expect(much / little).toBeGreaterThan(100);
  });

  it('ignores declarations that tell nothing, or the opposite', () => {
    expect(learnt(400, (dice) => [size(dice), size(dice)]).expectedMs(5_000)).toBeUndefined();
    expect(learnt(400, (dice) => [1, size(dice)]).expectedMs(1)).toBeUndefined();
    const inverse = learnt(400, (dice) => {
      const attainedMs = size(dice);
      return [1e9 / attainedMs, attainedMs];
    });
    expect(inverse.explained).toBe(0);
    expect(inverse.expectedMs(5_000)).toBeUndefined();
  });

  it('forgets old programs: a tenant whose declarations become right is believed', () => {
    const calibration = learnt(300, (dice) => [size(dice), size(dice)]);
    const dice = new Dice(2);
    for (let program = 0; program < 600; program += 1) {
      const attainedMs = size(dice);
      calibration.learn(attainedMs, attainedMs);
    }
    expect(calibration.explained).toBeGreaterThan(0.7);
  });

  /** Declared sizes as clients may send them: any, and any number that hardly differ. */
  const declaredMs = fc.oneof(
    fc.double({ min: 0, max: 2e13, noNaN: true }),
    fc.constantFrom(0, 1, 1e9),
    fc.integer({ min: 10_000, max: 10_010 }),
  );

  it('expects nothing far beyond the sizes seen, whatever is declared', () => {
    let expected = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(declaredMs, fc.double({ min: 0, max: 1e8, noNaN: true })), { minLength: 8, maxLength: 40 }),
        declaredMs,
        fc.boolean(),
        (ended, next, isSorted) => {
          const calibration = new Calibration();
          const sizes = ended.map(([, attainedMs]) => Math.max(1, attainedMs));
          // In order of size, declarations explain much, however little they differ.
          if (isSorted) sizes.sort((a, b) => a - b);
          const declarations = ended.map(([declared]) => declared);
          if (isSorted) declarations.sort((a, b) => a - b);
          sizes.forEach((sizeMs, index) => calibration.learn(declarations[index]!, sizeMs));
          expect(calibration.explained).toBeGreaterThanOrEqual(0);
          expect(calibration.explained).toBeLessThanOrEqual(1 + 1e-9);
          const ms = calibration.expectedMs(next);
          if (ms === undefined) return;
          expected += 1;
          expect(ms).toBeGreaterThan(Math.min(...sizes) / 4.001);
          expect(ms).toBeLessThan(Math.max(...sizes) * 4.001);
        },
      ),
      { numRuns: 500 },
    );
    expect(expected).toBeGreaterThan(30);
  });

  it.each([
    [1, 250],
    [1e12, 400_000],
  ])('expects of %d declared, of programs of 1 to 100 s that took what they declared, %d', (declared, expected) => {
    const calibration = new Calibration();
    for (const sizeMs of [1, 2, 4, 8, 16, 32, 64, 100]) calibration.learn(1_000 * sizeMs, 1_000 * sizeMs);
    expect(calibration.expectedMs(declared)).toBeCloseTo(expected, 3);
  });

  it('learns nothing from declarations that hardly differ: their slope would be chance', () => {
    const calibration = new Calibration();
    for (let program = 1; program <= 10; program += 1) calibration.learn(10_000 + program, 1_000 * program);
    for (const declared of [10_001, 10_100, 20_000]) expect(calibration.expectedMs(declared)).toBeUndefined();
  });

  it('extrapolates with the slope that its programs show', () => {
    const calibration = learnt(50, (dice) => {
      const ms = size(dice);
      return [ms, 3 * Math.sqrt(ms)];
    });
    expect(calibration.expectedMs(1e6)! / calibration.expectedMs(1e4)!).toBeCloseTo(10, 0);
  });

  it('judges at presumed ends until some have proved false, and then anew at real ends', () => {
    const calibration = new Calibration();
    for (let program = 0; program < 20; program += 1) {
      calibration.presumedEnded();
      calibration.learn(1_000 * 2 ** (program % 4), 500 * 2 ** (program % 4));
    }
    calibration.revived();
    expect(calibration.trustsPresumedEnds).toBe(true);
    expect(calibration.expectedMs(4_000)).toBeCloseTo(2_000, 3);
    calibration.revived();
    expect(calibration.trustsPresumedEnds).toBe(false);
    expect(calibration.expectedMs(4_000)).toBeUndefined();
    for (let program = 0; program < 100; program += 1) calibration.presumedEnded();
    expect(calibration.trustsPresumedEnds).toBe(true);
  });
});
