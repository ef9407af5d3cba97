import { expect, it } from 'vitest';
import { placeVerdict } from '../../../lab/index.js';

const ratio = (value: number) => ({ ratio: value, low: value, high: value, pairs: 8 });
const times = (mean: number, tail: number) => ({
  programs: { mean: ratio(mean), p99: ratio(1) },
  // As simulations have it, which tell more of the first token than a sentence does.
  firstToken: { p50: ratio(1), p95: ratio(2), p99: ratio(tail) },
  firstTokenP99Seconds: [1, tail] as const,
  counts: { programs: 100, calls: 500 },
});
const tried = (name: string, mean: number, tail = 1) => ({ name, times: times(mean, tail), isOverloaded: false, failed: 0, p99s: {} }); // prettier-ignore
const TERMS = { margin: 0.02, repeated: 'seeds', isExact: false };

it('names what is worse where one other setting takes as long', () => {
  const told = (mean: number) => placeVerdict('At 1 a second', [tried('pass-through', 1), tried('plas', mean, 4)], TERMS).sentence; // prettier-ignore
  expect(told(1)).toBe('At 1 a second: no difference; first token p99 4.0x slower (1 -> 4 s).');
  expect(placeVerdict('At 1 a second', [tried('pass-through', 1), tried('plas', 1)], TERMS).sentence).toBe(
    'At 1 a second: no difference.',
  );
  expect(told(1.1)).toBe('At 1 a second: pass-through is fastest; plas, programs 10 % slower: 1.10 (1.10–1.10).');
});
