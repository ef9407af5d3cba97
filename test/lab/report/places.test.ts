import { expect, it } from 'vitest';
import { breakEvenOf, placeVerdict } from '../../../lab/index.js';

const ratio = (value: number) => ({ ratio: value, low: value, high: value, pairs: 8 });
const times = (mean: number, tail: number) => ({
  programs: { mean: ratio(mean), p50: ratio(1), p95: ratio(1), p99: ratio(1) },
  // As simulations have it, which tell more of the first token than a sentence does.
  firstToken: { p50: ratio(1), p95: ratio(2), p99: ratio(tail) },
  firstTokenP99Seconds: [1, tail] as const,
  counts: { programs: 100, calls: 500 },
});
const tried = (name: string, mean: number, tail = 1) => ({
  name,
  times: times(mean, tail),
  isOverloaded: false,
  failed: 0,
});
const of = (own: ReturnType<typeof times>, mean: ReturnType<typeof ratio>) => ({
  ...own,
  programs: { ...own.programs, mean },
});
const TERMS = { margin: 0.02, repeated: 'seeds', isExact: false };
const judge = (all: Parameters<typeof placeVerdict>[1], terms = TERMS) => placeVerdict('At 1 a second', all, terms);
const told = (...given: Parameters<typeof judge>) => judge(...given).rows.map(({ outcome }) => outcome);
const nameOf = (choice: number) => 'ab'.charAt(choice);

it('says in a few words what each setting changes', () => {
  const unsure = { ...ratio(0.8), low: 0.6, high: 1.1 };
  const all = [
    tried('a', 1),
    tried('b', 1),
    tried('c', 0.5),
    tried('d', 1.1),
    { ...tried('e', 1), times: of(times(1, 1), unsure) },
  ];
  expect(told(all)).toEqual(['no difference', '2.0x faster', '10 % slower', 'about 30 seeds would tell']);
  expect(told(all.map((each) => ({ ...each, isOverloaded: true, isOut: true })))).toEqual(
    Array(4).fill('both overloaded'),
  );
  // Of one repetition, and where chance plays no part.
  const [first, , other] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
  const single = { ...other, times: of(other.times, { ratio: 0.5, low: null, high: null, pairs: 1 } as never) };
  expect(told([first, single])).toEqual(['2.0x faster in one seed']);
  expect(told([first, single], { ...TERMS, isExact: true })).toEqual(['2.0x faster']);
});

it('marks factors that grow with the number of programs', () => {
  const worn = { isOverloaded: true };
  expect(told([{ ...tried('a', 1), ...worn }, tried('b', 0.5)])).toEqual(['2.0x faster*']);
  expect(told([tried('a', 1), { ...tried('b', 3), ...worn }])).toEqual(['overloaded, 3.0x slower*']);
  expect(
    told([
      tried('a', 1),
      { ...tried('b', 1), ...worn, times: of(times(1, 1), { ...ratio(0.9), low: 0.7, high: 1.1 }) },
    ]),
  ).toEqual(['overloaded']);
  const some = { ...tried('b', 0.5), times: { ...times(0.5, 1), calm: { of: '3 of 8 seeds', ...times(0.9, 1) } } };
  expect(told([tried('a', 1), some])).toEqual(['2.0x faster*']);
});

it('names the highest price of each measure with its load, and a gain that is of bursts alone', () => {
  const at = (place: string, tail: number, slowest: number, isSooner = true) => {
    const own = {
      ...times(0.5, tail),
      programs: { mean: ratio(0.5), p50: ratio(1), p95: ratio(1), p99: ratio(slowest) },
    };
    const calm = { of: '3 of 8 seeds', ...of(own, ratio(isSooner ? 0.9 : 1)) };
    return placeVerdict(place, [tried('a', 1), { ...tried('b', 0.5), times: { ...own, calm } }], TERMS);
  };
  const said = (isSooner: boolean) =>
    breakEvenOf([at('At 1 a second', 6, 2, isSooner), at('At 2 a second', 4, 5)], nameOf, 2).sentence;
  expect(said(true)).toBe(
    'b pays at all of these loads: programs up to 10 % faster in the 3 of 8 seeds that both sustain. Price: program p99 5.0x slower at 2 a second (3 of 8 seeds); first token p99 6.0x slower (1 -> 6 s) at 1 a second (3 of 8 seeds).',
  );
  expect(said(false)).toMatch(
    /^b pays at all of these loads: programs up to 2\.0x faster \(more in longer runs\), at 1 a second for certain only with seeds that overload a\. Price: /,
  );
  const among = (isSooner: boolean) =>
    breakEvenOf([at('Under x', 6, 2, isSooner), at('Under y', 4, 5, false)], nameOf).sentence;
  expect(among(false)).toMatch(
    /^b is better than a under x and under y: programs up to 2\.0x faster, for certain only with seeds that overload a\. /,
  );
  expect(among(true)).toMatch(/, under y for certain only with seeds that overload a\. /);
});

it('names a certain price before a larger one that may be chance', () => {
  const at = (place: string, p99: object) =>
    placeVerdict(
      place,
      [
        tried('a', 1),
        {
          ...tried('b', 0.5),
          times: { ...times(0.5, 1), firstToken: { p50: ratio(1), p99: p99 as ReturnType<typeof ratio> } },
        },
      ],
      TERMS,
    );
  const all = [at('At 1 a second', { ratio: 1.64, low: 0.51, high: 5.24, pairs: 8 }), at('At 2 a second', ratio(1.29))];
  expect(breakEvenOf(all, nameOf, 2).sentence).toContain(
    'Price: first token p99 29 % slower (1 -> 1 s) at 2 a second.',
  );
});

it('takes no slight gain at a price, but a slight one without', () => {
  const slight = (tail: number) => judge([tried('a', 1), tried('b', 0.96, tail)]);
  expect(slight(4)).toMatchObject({
    better: [],
    gain: expect.stringMatching(/^b is 4 % faster, /) as string,
    rows: [
      { outcome: '4 % faster, too little for its price', price: [{ text: 'first token p99 4.0x slower (1 -> 4 s)' }] },
    ],
  });
  expect(slight(1)).toMatchObject({ better: [1], rows: [{ outcome: '4 % faster', price: [] }] });
});

it('takes the one under which fewest programs fail of those that are as fast', () => {
  const all = [
    { ...tried('a', 1), failed: 9 },
    { ...tried('b', 0.5), failed: 5 },
    { ...tried('c', 0.5), failed: 3 },
    tried('d', 0.7),
  ];
  expect(judge(all).better).toEqual([2, 1, 3]);
});

it('compares what fails by chance as often, and leaves out what fails more, with both counts', () => {
  const failing = (before: number, after: number) =>
    judge([
      { ...tried('a', 1), failed: before },
      { ...tried('b', 0.5), failed: after },
    ]);
  expect(failing(54, 56)).toMatchObject({ better: [1], rows: [{ outcome: '2.0x faster' }] });
  const mean = placeVerdict('', [tried('a', 1), { ...tried('b', 0.5), failed: 612 }], { ...TERMS, repetitions: 4 });
  expect(mean.rows[0]?.outcome).toBe('fails more programs: 0 -> 153');
  expect(failing(5, 56)).toMatchObject({
    better: [],
    rows: [
      { outcome: 'fails more programs: 5 -> 56', price: [{ measure: 'failed', text: 'failed programs 5 -> 56' }] },
    ],
    gain: 'b is 2.0x faster, but fails more programs: 5 -> 56',
  });
  const said = (mean: number, before: number, after: number) =>
    breakEvenOf(
      [
        judge([
          { ...tried('a', 1), failed: before },
          { ...tried('b', mean), failed: after },
        ]),
      ],
      nameOf,
    ).sentence;
  // What is not more than chance explains is a price, for which a slight gain is too little.
  expect(said(0.5, 54, 56)).toMatch(/: programs 2\.0x faster\. Price: failed programs 54 -> 56\.$/);
  expect(said(0.5, 56, 54)).toMatch(/ No price is certain\.$/);
  expect(said(0.96, 54, 56)).toBe('Keep a: b is 4 % faster, too little for its price: failed programs 54 -> 56.');
  expect(said(0.5, 5, 56)).toBe('Keep a: b is 2.0x faster, but fails more programs: 5 -> 56.');
  expect(said(1, 5, 56)).toBe('Keep a: nothing is significantly better. Most is lost: failed programs 5 -> 56.');
});

it('names the kind of program that pays, in a price', () => {
  const kinds = {
    chat: { programs: { p99: ratio(0.9) }, firstToken: {} },
    rag: { programs: { p99: ratio(2.5) }, firstToken: {} },
  };
  const pays = { ...tried('b', 0.5), times: { ...times(0.5, 4), kinds } };
  expect(judge([tried('a', 1), pays]).rows[0]?.price).toMatchObject([
    { measure: 'first token' },
    { measure: 'kind', kind: 'rag', factor: 2.5 },
  ]);
});

it('tells what is lost under what cannot be chosen, and takes it not', () => {
  const all = [tried('a', 1), { ...tried('b', 0.5), isForeign: true }, { ...tried('c', 1.3), isForeign: true }];
  expect(judge(all)).toMatchObject({
    better: [],
    rows: [{ outcome: '2.0x faster' }, { outcome: '30 % slower' }],
    losses: [{ name: 'c' }],
  });
});
