import { expect, it } from 'vitest';
import { ContextGrowth } from '../../../src/kv/context-growth.js';

const FIRST = 1_000;

/** Programs of ten calls, each of which adds so many tokens. */
function teach(growth: ContextGrowth, programs: number, grownTokens: number): void {
  for (let program = 0; program < programs; program += 1)
    for (let call = 0; call < 10; call += 1) {
      growth.answered(FIRST, call === 0, call === 0 ? undefined : grownTokens);
      if (call < 9) growth.followed(FIRST, call === 0);
    }
}

it('a type is as all programs are until it has answered a few calls of its own', () => {
  const all = new ContextGrowth();
  const [known, young] = [new ContextGrowth(all), new ContextGrowth(all)];
  teach(known, 40, 2_000);
  expect(known.expectedTokens(FIRST, true)).toBeGreaterThan(FIRST + 5_000);
  for (let call = 0; call < 7; call += 1) {
    young.answered(FIRST, true, undefined);
    expect(young.expectedTokens(FIRST, true)).toBe(all.expectedTokens(FIRST, true));
  }
  young.answered(FIRST, true, undefined);
  expect(young.expectedTokens(FIRST, true)).toBe(FIRST);
});
