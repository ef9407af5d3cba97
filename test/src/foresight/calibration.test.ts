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

  it('stays finite with sizes of nothing', () => {
    const calibration = learnt(20, () => [0, 0]);
    expect(calibration.explained).toBe(0);
    expect(calibration.expectedMs(0)).toBeUndefined();
  });
});
