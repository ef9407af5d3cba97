import { expect, it } from 'vitest';
import { baselineOf } from '../../loadtest/calibrate.js';

it('the baseline is that of the target that answers a typical call the soonest', () => {
  const near = { overheadMs: 5, promptTokenMs: 0.2, outputTokenMs: 10 };
  const far = { overheadMs: 100, promptTokenMs: 0.1, outputTokenMs: 11 };
  expect(baselineOf([far, near])).toBe(near);
  expect(baselineOf([near, near])).toBe(near);
  expect(baselineOf([undefined, far])).toBe(far);
  expect(baselineOf([undefined, undefined])).toBeUndefined();
});
