import { expect, it } from 'vitest';
import { Worth } from '../../../src/memory/worth.js';

it.each([
  [0.19, true],
  [0.21, false],
])('warms of which %d is wasted go on: %s', (wastedShare, pays) => {
  const worth = new Worth();
  worth.begun();
  worth.learn(1_000 * (1 - wastedShare), 1_000 * wastedShare, 0);
  expect(worth.pays(1_000, 0)).toBe(pays);
});

it('one warm is tried before anything is known', () => {
  const worth = new Worth();
  expect(worth.pays(1_000, 0)).toBe(true);
  worth.begun();
  expect(worth.pays(1_000, 0)).toBe(false);
});
