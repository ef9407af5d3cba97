import { expect, it } from 'vitest';
import { replaces } from '../../../cli/shadow/thread.js';
import type { ShadowAnswer } from '../../../sidecar/admin/answers.js';

const answer = (made_at: number, isFigure: boolean, window_seconds = 900) =>
  ({ made_at, window_seconds, pools: [{ gain: isFigure ? {} : null }] }) as unknown as ShadowAnswer;

it.each([
  ['the first', undefined, answer(1000, false), true],
  ['another without a figure', answer(1000, false), answer(1060, false), true],
  ['one without a figure after one that has it', answer(1000, true), answer(1060, false), false],
  ['a later figure', answer(1000, true), answer(1060, true), true],
  ['the first after an engine that left', answer(1000, true), answer(1060, false, 30), false],
  ['one that covers nothing of the figure', answer(1000, true), answer(1901, false), true],
])('an estimate is shown: %s', (_, last, next, isShown) => {
  expect(replaces(last, next)).toBe(isShown);
});
