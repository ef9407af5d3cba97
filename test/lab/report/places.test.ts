import { expect, it } from 'vitest';
import { breakEvenOf, placeVerdict } from '../../../lab/index.js';

const ratio = (value: number) => ({ ratio: value, low: value, high: value, pairs: 8 });
const times = (mean: number, tail: number) => ({
  programs: { mean: ratio(mean), p50: ratio(1), p99: ratio(1) },
  // As simulations have it, which tell more of the first token than a sentence does.
  firstToken: { p50: ratio(1), p95: ratio(2), p99: ratio(tail) },
  firstTokenP99Seconds: [1, tail] as const,
  counts: { programs: 100, calls: 500 },
});
const tried = (name: string, mean: number, tail = 1) => ({ name, times: times(mean, tail), isOverloaded: false, failed: 0, p99s: {} }); // prettier-ignore
const TERMS = { margin: 0.02, repeated: 'seeds', isExact: false };

it('names what is worse where one other setting takes as long', () => {
  const told = (mean: number) => placeVerdict('At 1 a second', [tried('pass-through', 1), tried('plas', mean, 4)], TERMS).sentence; // prettier-ignore
  expect(told(1)).toBe('At 1 a second: no difference in mean time; first token p99 4.0x slower (1 -> 4 s).');
  expect(placeVerdict('At 1 a second', [tried('pass-through', 1), tried('plas', 1)], TERMS).sentence).toBe(
    'At 1 a second: no difference.',
  );
  const perhaps = { ...times(1, 1), firstToken: { p50: ratio(1.2), p99: { ...ratio(1.31), low: 0.93, high: 1.84 } } };
  expect(placeVerdict('At 1 a second', [tried('a', 1), { ...tried('b', 1), times: perhaps }], TERMS).sentence).toBe('At 1 a second: no difference in mean time; first token p50 20 % slower, p99 no certain difference (1.31, 0.93–1.84; 1 -> 1 s).'); // prettier-ignore
  const both = [tried('pass-through', 1), tried('fcfs-window', 1, 3), tried('plas', 1, 4)];
  expect(placeVerdict('At 1 a second', both, TERMS).sentence).toBe('At 1 a second: no difference in mean time; plas: first token p99 4.0x slower (1 -> 4 s); fcfs-window: first token p99 3.0x slower (1 -> 3 s).'); // prettier-ignore
  expect(told(1.1)).toBe(
    'At 1 a second: pass-through is fastest; plas, programs 10 % slower: 1.10 (1.10–1.10), first token p99 4.0x slower (1 -> 4 s).',
  );
});

it('names the highest price of each measure with its load, and a gain that is of bursts alone', () => {
  const at = (place: string, tail: number, slowest: number, isSooner = true) => {
    const own = { ...times(0.5, tail), programs: { mean: ratio(0.5), p50: ratio(1), p99: ratio(slowest) }, sustained: { text: ', 0.9 in some', isSooner } }; // prettier-ignore
    return placeVerdict(place, [tried('a', 1), { ...tried('b', 0.5), times: own }], TERMS);
  };
  const told = (isSooner: boolean) => breakEvenOf([at('At 1 a second', 6, 2, isSooner), at('At 2 a second', 4, 5)], (choice) => 'ab'.charAt(choice), 2).sentence; // prettier-ignore
  expect(told(true)).toBe('b pays at all of these loads. Its price is highest at 2 a second: program p99 5.0x slower; at 1 a second: first token p99 6.0x slower (1 -> 6 s).'); // prettier-ignore
  expect(told(false)).toMatch(/^b pays at all of these loads; at 1 a second only in seeds that overload a\. /);
  const all = [at('At 1 a second', 6, 2, false), at('At 2 a second', 4, 5, false)];
  expect(breakEvenOf(all, (choice) => 'ab'.charAt(choice), 2).sentence).toMatch(/; at 1 a second and at 2 a second only in seeds that overload a\. /); // prettier-ignore
  const among = (isSooner: boolean) => breakEvenOf([at('Under x', 6, 2, isSooner), at('Under y', 4, 5, false)], (choice) => 'ab'.charAt(choice)).sentence; // prettier-ignore
  expect(among(false)).toMatch(/^b is better in each of these, only in seeds that overload a\. /);
  expect(among(true)).toMatch(/^b is better in each of these\. /);
});

it('names a certain price before a larger one that may be chance', () => {
  const at = (place: string, p99: object) => placeVerdict(place, [tried('a', 1), { ...tried('b', 0.5), times: { ...times(0.5, 1), firstToken: { p50: ratio(1), p99: p99 as ReturnType<typeof ratio> } } }], TERMS); // prettier-ignore
  const all = [at('At 1 a second', { ratio: 1.64, low: 0.51, high: 5.24, pairs: 8 }), at('At 2 a second', ratio(1.29))];
  expect(breakEvenOf(all, (choice) => 'ab'.charAt(choice), 2).sentence).toContain('Its price is highest at 2 a second: first token p99 29 % slower'); // prettier-ignore
});

it('takes no slight gain at a price, but a slight one without', () => {
  const told = (tail: number) =>
    placeVerdict('At 1 a second', [tried('pass-through', 1), tried('plas', 0.96, tail)], TERMS);
  expect(told(4)).toMatchObject({ better: [], sentence: 'At 1 a second: plas, programs 4 % faster: 0.96 (0.96–0.96), too little for its price: first token p99 4.0x slower (1 -> 4 s).' }); // prettier-ignore
  expect(told(1)).toMatchObject({ better: [1], sentence: 'At 1 a second: plas, programs 4 % faster: 0.96 (0.96–0.96).' }); // prettier-ignore
});

it('takes the one under which fewest programs fail of those that are as fast, and names slower gains too', () => {
  const all = [{ ...tried('a', 1), failed: 9 }, { ...tried('b', 0.5), failed: 5 }, { ...tried('c', 0.5), failed: 3 }, tried('d', 0.7)]; // prettier-ignore
  const { better, sentence } = placeVerdict('At 1 a second', all, TERMS);
  expect(better).toEqual([2, 1, 3]);
  expect(sentence).toBe('At 1 a second: c or b, programs 2.0x faster: 0.50 (0.50–0.50); d 30 % faster.');
  expect(placeVerdict('At 1 a second', [tried('a', 1), tried('b', 0.5, 4), tried('c', 0.5)], TERMS).sentence).toBe('At 1 a second: b or c, programs 2.0x faster: 0.50 (0.50–0.50); b: first token p99 4.0x slower (1 -> 4 s).'); // prettier-ignore
  const fewer = { ...tried('b', 0.5), times: { ...times(0.5, 1), failed: [9, 4] as const } };
  expect(placeVerdict('At 1 a second', [tried('a', 1), fewer], TERMS).sentence).toMatch(/0\.50\); failed programs 9 -> 4\.$/); // prettier-ignore
  const chance = { ...tried('b', 1), times: { ...times(1, 1), failed: [2, 2.13] as const } };
  expect(placeVerdict('At 1 a second', [tried('a', 1), chance], TERMS).sentence).toBe('At 1 a second: no difference.');
  const same = { ...tried('b', 1), times: { ...times(1, 1), failed: [9, 4] as const } };
  expect(placeVerdict('At 1 a second', [tried('a', 1), same], TERMS).sentence).toBe('At 1 a second: no difference in mean time; failed programs 9 -> 4.'); // prettier-ignore
});

it('compares what fails by chance as often, and leaves out what fails more, with both counts', () => {
  const told = (before: number, after: number) => placeVerdict('At 1 a second', [{ ...tried('a', 1), failed: before }, { ...tried('b', 0.5), failed: after }], TERMS).sentence; // prettier-ignore
  expect(told(54, 56)).toContain('b, programs 2.0x faster');
  expect(told(5, 56)).toBe('At 1 a second: b is not compared, as 56 of its programs failed, 5 under a.');
});

it('calls nothing equal that is certainly faster in the repetitions that both sustain', () => {
  const told = (isSooner: boolean) => placeVerdict('At 1 a second', [tried('a', 1), { ...tried('b', 1), times: { ...times(1, 1), programs: { ...times(1, 1).programs, mean: { ratio: 0.98, low: 0.9, high: 1.08, pairs: 8 } }, sustained: { text: ', 0.94 in some', isSooner } } }], TERMS).sentence; // prettier-ignore
  expect(told(true)).toBe('At 1 a second: no certain difference (program times b: 0.98 (0.90–1.08), 0.94 in some).');
  expect(told(false)).toContain(', 0.94 in some: treat them as equal)');
  const both = [tried('a', 1), { ...tried('b', 1), times: { ...times(1, 1), programs: { ...times(1, 1).programs, mean: { ratio: 0.8, low: 0.6, high: 1.1, pairs: 8 } } } }].map((each) => ({ ...each, isOverloaded: true })); // prettier-ignore
  expect(placeVerdict('At 1 a second', both, TERMS).sentence).toMatch(/would tell\); overloaded\.$/);
});

it('names settings with equal outcomes once', () => {
  const all = [tried('a', 1), tried('b', 1.2), tried('c', 1.2)];
  expect(placeVerdict('At 1 a second', all, TERMS).sentence).toBe('At 1 a second: a is fastest; b and c, programs 20 % slower: 1.20 (1.20–1.20).'); // prettier-ignore
});

it('names the first two of many settings, and how many more there are', () => {
  const told = (...means: readonly number[]) => placeVerdict('At 1 a second', [tried('a', 1), ...means.map((mean, at) => tried('bcdef'.charAt(at), mean, 2 + at))], TERMS).sentence; // prettier-ignore
  expect(told(0.5, 0.5, 0.5, 0.5, 0.7)).toBe('At 1 a second: b or c or 2 more, programs 2.0x faster: 0.50 (0.50–0.50); b: first token p99 2.0x slower (1 -> 2 s); f 30 % faster.'); // prettier-ignore
  expect(told(1, 1, 1, 1)).toBe('At 1 a second: no difference in mean time; e: first token p99 5.0x slower (1 -> 5 s); d: first token p99 4.0x slower (1 -> 4 s); 2 more.'); // prettier-ignore
  expect(told(1.1, 1.2, 1.3, 1.4)).toBe('At 1 a second: a is fastest; e, programs 40 % slower: 1.40 (1.40–1.40), first token p99 5.0x slower (1 -> 5 s); d, programs 30 % slower: 1.30 (1.30–1.30), first token p99 4.0x slower (1 -> 4 s); 2 more.'); // prettier-ignore
});

it('tells what is lost under what cannot be chosen, and takes it not', () => {
  const all = [tried('a', 1), { ...tried('b', 0.5), isForeign: true }, { ...tried('c', 1.3), isForeign: true }];
  expect(placeVerdict('At 1 a second', all, TERMS)).toMatchObject({ better: [], sentence: 'At 1 a second: a is fastest; c, programs 30 % slower: 1.30 (1.30–1.30).' }); // prettier-ignore
});

it('says which setting alone sustains a load', () => {
  const all = [tried('a', 1), { ...tried('b', 0.9), isOverloaded: true, times: { ...times(0.9, 1), programs: { mean: { ratio: 0.9, low: 0.7, high: 1.1, pairs: 8 }, p50: ratio(1), p99: ratio(1) } } }]; // prettier-ignore
  expect(placeVerdict('At 1 a second', all, TERMS).sentence).toBe('At 1 a second: only a sustains it; b, overloaded: 0.90 (0.70–1.10).'); // prettier-ignore
});
