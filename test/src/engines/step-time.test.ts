import { describe, expect, it } from 'vitest';
import { StepTime } from '../../../src/engines/step-time.js';

const load = (index: number): number => 20_000 + 1_000 * ((index * 37) % 100);

describe('the time of a step', () => {
  it('is unknown until loads have varied', () => {
    const step = new StepTime();
    for (let index = 0; index < 500; index += 1) step.observe(20, 50_000 + index);
    expect(step.emptyMs).toBeUndefined();
  });

  it('tells the empty step from the load within a few per cent, noise and all', () => {
    const step = new StepTime();
    for (let index = 0; index < 300; index += 1)
      step.observe(10 + 1e-4 * load(index) + (index % 2 === 0 ? 1 : -1), load(index));
    expect(step.emptyMs).toBeGreaterThan(9);
    expect(step.emptyMs).toBeLessThan(11);
    expect(step.msPerToken / 1e-4).toBeCloseTo(1, 0);
  });

  it('follows an engine that has become slower', () => {
    const step = new StepTime();
    for (let index = 0; index < 600; index += 1) step.observe(10 + 1e-4 * load(index), load(index));
    for (let index = 0; index < 4_000; index += 1) step.observe(30 + 3e-4 * load(index), load(index));
    expect(step.emptyMs).toBeCloseTo(30, 0);
    expect(step.msPerToken).toBeCloseTo(3e-4, 5);
  });

  it('never takes a step for free without load, nor load for a gain', () => {
    const steep = new StepTime();
    const falling = new StepTime();
    for (let index = 0; index < 100; index += 1) {
      steep.observe(1e-9 * load(index) ** 2, load(index));
      falling.observe(50 - 1e-4 * load(index), load(index));
    }
    expect(steep.emptyMs).toBeGreaterThan(0);
    expect(falling.msPerToken).toBe(0);
  });

  it('is learnt from the steps of all gateways together', () => {
    const all = new StepTime();
    const gateways = [new StepTime(), new StepTime()];
    for (let index = 0; index < 40; index += 1) {
      all.observe(10 + 1e-4 * load(index), load(index));
      gateways[index % 2]!.observe(10 + 1e-4 * load(index), load(index));
    }
    const [own, other] = gateways as [StepTime, StepTime];
    expect(own.emptyMs).toBeUndefined();
    own.share(other.sums);
    expect(own.emptyMs).toBeCloseTo(all.emptyMs!, 6);
    expect(own.msPerToken).toBeCloseTo(all.msPerToken, 9);
  });
});
