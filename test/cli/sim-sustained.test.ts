import { expect, it } from 'vitest';
import { loadOf } from '../../cli/sim/overload.js';
import { recommend } from '../../cli/sim/recommendation.js';
import { parseSlo } from '../../loadtest/report/index.js';
import { madeUp, spread } from '../support/sim-plans.js';

const linesOf = (...given: Parameters<typeof madeUp>): string[] => {
  const { plan, runs } = madeUp(...given);
  return recommend(plan, runs)!.sentence.split('\n');
};
const BOTH = ['pass-through', 'plas'] as const;

it('tells on how many engines each setting sustains the load', () => {
  const told = (grew: (at: number, seed: number) => boolean) =>
    linesOf({ engines: [1, 2, 4], policy: BOTH }, {}, (at, seed) => ({ queue_grew: grew(at, seed) }));
  const sustained = (text: string, limit = '; of 3,000 programs, an overload below 3.7 % does not show') =>
    `Sustained in most seeds: ${text}${limit}.`;
  expect(told((at) => at < 4 && at !== 3)[0]).toBe(
    sustained('pass-through on 4 engines or more; plas on 2 engines or more'),
  );
  expect(told((at, seed) => at < 4 && seed > 2)[0]).toBe(sustained('all of these (on 1 in 2 of 3)'));
  expect(told((at, seed) => at < 4 && seed > 1)[0]).toBe(sustained('on 4 engines or more'));
  expect(told(() => false)[0]).toBe(sustained('all of these'));
  const none = [
    sustained('none of these', ''),
    'The fewest that are enough may not be among these: run again with --engines auto, which looks for them.',
  ];
  expect(told(() => true)).toEqual(expect.arrayContaining(none));
});

it('counts as enough only what meets an objective too', () => {
  const slos = [parseSlo('program_seconds.p95 < 10', 0, () => '')];
  expect(linesOf({ engines: [1, 2, 4] }, { slos }, (at) => ({ program_seconds: spread(12 - 3 * at) }))[0]).toBe(
    'Sustained with program_seconds.p95 < 10 in most seeds: on 2 engines or more.',
  );
  const of = (at: number, seed: number) => ({ program_seconds: spread(at === 0 ? 9 + seed / 2 : 5) });
  expect(linesOf({ concurrency: [8], policy: BOTH }, { slos }, of)[1]).toBe(
    'Seeds that sustain this load with program_seconds.p95 < 10: pass-through 1 of 3; plas 3 of 3.',
  );
  expect(
    linesOf({ concurrency: [8], engines: [1] }, { slos, searched: 'engines' }, () => ({
      program_seconds: spread(5),
    }))[0],
  ).toMatch(/: on 1 engine\.$/);
  const missed = (lists: object, searched?: 'engines') =>
    linesOf(lists, { slos, searched }, (at, seed) => ({ program_seconds: spread(20 - at + seed) }));
  expect(missed({ concurrency: [8, 16] })).toEqual([
    'Sustained with program_seconds.p95 < 10 in most seeds: none of these. Nearest: plas with 16 at a time, program_seconds.p95 21.',
  ]);
  expect(missed({ concurrency: [8] }).at(-1)).toBe(
    'No setting meets program_seconds.p95 < 10 at this load: run again with --engines auto, which looks for the fewest on which one does.',
  );
  // An overload explains it, in the same word.
  expect(linesOf({ rate: [1] }, { slos }, () => ({ queue_grew: true }))).toEqual([
    expect.stringMatching(/^Seeds that sustain this load with program_seconds\.p95 < 10: 0 of 3\./),
    expect.stringMatching(/^plas does not sustain this load: /),
  ]);
  expect(missed({ concurrency: [8], engines: [1, 2] }, 'engines')).toEqual([
    expect.stringMatching(/: none of these\. Nearest: plas on 2 engines, program_seconds\.p95 21\.$/),
    'More engines would hardly help: change the model, the machine or the objective.',
  ]);
  expect(linesOf({ rate: [1, 2] }, { slos }, (_, seed) => ({ program_seconds: spread(7 + 2 * seed) }))[0]).toContain(
    ', program_seconds.p95 11, met in 1 of 3.',
  );
});

it('says that fewer engines may do only of those that may meet an objective', () => {
  const slos = [parseSlo('program_seconds.p95 < 10', 0, () => '')];
  const short = { queue_grew: null, programs: 30, slowdown: spread(0.1) };
  const told = (seconds: number) =>
    linesOf({ engines: [1, 2] }, { slos }, (at) => ({
      program_seconds: spread(at === 0 ? seconds : 5),
      ...(at === 0 && short),
    }))[0];
  expect(told(5)).toMatch(/: on 2 engines or more, perhaps on fewer\.$/);
  expect(told(15)).toMatch(/: on 2 engines or more\.$/);
});

it('tells what circumstances change, with what fails, unless most of it does', () => {
  const told = (failed: number) =>
    linesOf({ concurrency: [8], conditions: ['none', 'production'] }, {}, (at) => ({
      program_seconds: spread(10 + at),
      ...(at > 0 && { failed }),
    }))[0];
  expect(told(17)).toBe(
    'Under production: failed programs 0 -> 17; programs 10 % slower than those without failures (1.10, 1.10–1.10); first token p50 10 % slower, p99 10 % slower (10 -> 11 s).',
  );
  expect(told(301)).toBe('Under production: too many programs fail to compare times (0 -> 301).');
});

it('names the search for the fewest engines that are enough, unless these runs show them', () => {
  const told = (engines: readonly number[], enough: number, searched?: 'engines') =>
    linesOf({ engines }, { searched }, (at) => ({ queue_grew: engines[at]! < enough })).at(-1);
  for (const [engines, enough] of [
    [[1, 2, 4], 3],
    [[2, 4], 1],
    [[1, 2], 4],
  ] as const)
    expect(told(engines, enough)).toBe(
      'The fewest that are enough may not be among these: run again with --engines auto, which looks for them.',
    );
  expect(told([2, 4], 4, 'engines')).toMatch(/^The fewest that are enough may not be among these: the search ended/);
  expect(told([3, 4], 4, 'engines')).toMatch(/^Sustained/);
  expect(told([1, 2], 2)).toMatch(/^Sustained/);
  // Seeds that overload the fewest may become more in longer runs.
  const edge = (programs: number) =>
    linesOf({ engines: [4, 5, 6] }, { searched: 'engines', seeds: [1, 2, 3, 4, 5, 6, 7, 8], programs }, (at, seed) => ({
      queue_grew: at === 0 || (at === 1 && seed > 5),
    }));
  expect(edge(2000)).toEqual([
    'Sustained in most seeds: on 5 engines or more (5 of 8); of 3,000 programs, an overload below 3.7 % does not show.',
    'Too few programs to tell whether this rate is sustained on 5 engines: run again with --programs 4000, about 2 times as long.',
  ]);
  expect(edge(4000)).toHaveLength(1);
});

it('asks for more programs where too few came to tell on how many engines a load is sustained', () => {
  const few = (mean: number) => ({
    program_seconds: { ...spread(20, 30), mean },
    slowdown: spread(1),
    queue_grew: null,
    programs: 30,
    calls: 90,
    engine_waits: 90,
  });
  const told = (mean: number) => linesOf({ engines: [1, 2] }, { seeds: [1], programs: 30 }, () => few(mean)).join('\n');
  // Arrivals must last for five times the 20 s that a program takes alone, and a quarter more.
  expect(told(20)).toMatch(
    /^Sustained: unknown.*\nToo few programs to tell how many engines sustain this rate: run again with --programs 200, about 7 times as long\.$/,
  );
  // The mean is short enough, but not the last to end: many times as many, or each advice leads to the next.
  expect(told(2)).toContain('run again with --programs 200, ');
});

it('asks for a longer run of a number at a time where a difference is small, or others may pay', () => {
  const given = (mean: number, programs = 100, seeds = [1, 2, 3]) =>
    madeUp({ concurrency: [8], policy: BOTH }, { programs, seeds }, (at) => ({
      program_seconds: spread(at === 0 ? 10 : mean, 100),
    }));
  const told = (...how: Parameters<typeof given>) => recommend(given(...how).plan, given(...how).runs)!.sentence;
  expect(told(9)).toBe(
    'Few programs, most of which run while the engines fill or empty, cannot tell small differences: run again with --programs 200, about 2 times as long.',
  );
  expect(told(5)).toMatch(
    /^Take plas: programs 2\.0x faster .*\nFew programs, .* cannot tell who pays: run again with --programs 200, about 2 times as long\.$/,
  );
  expect([told(9, 200), told(20)].join()).not.toContain('Few programs');
  // Where seeds decide under some conditions, both are asked for at once.
  const [, both] = linesOf(
    { concurrency: [8], conditions: ['none', 'production'], policy: BOTH },
    { programs: 100 },
    (at, seed) => ({ program_seconds: spread(at === 1 ? 5 : at === 3 ? 6 + seed : 10, 100) }),
  );
  expect(both).toBe(
    'Too few seeds and programs to tell whether it is better elsewhere, too: run again with --seed 1..16 --programs 200, about 11 times as long.',
  );
  // Of several loads, or the same under several conditions, the largest number tells.
  const among = (lists: object) =>
    recommend(
      ...(Object.values(
        madeUp({ ...lists, policy: BOTH }, { programs: 1000 }, (at) => ({
          program_seconds: spread(at % 2 === 0 ? 10 : 10.1),
        })),
      ) as Parameters<typeof recommend>),
    )!.sentence;
  expect(among({ concurrency: [94], conditions: ['none', 'production'] })).toMatch(
    /^Few programs, .*: run again with --programs 2000, about 2 times as long\.$/m,
  );
  expect(among({ concurrency: [8, 48] })).toContain('--programs 1200.');
  expect(told(5, 100, [1])).toMatch(
    /^Too few seeds and programs to tell whether .*: run again with --seed 1\.\.4 --programs 200, about 8 times as long\.$/,
  );
  // One seed tells nothing, so one command asks for more of both.
  expect(told(10.1, 100, [1])).toBe(
    'Too few seeds and programs to tell whether anything is better than pass-through: run again with --seed 1..16 --programs 200, about 32 times as long.',
  );
});

it('names the price of the best setting', () => {
  const [told] = linesOf({ concurrency: [8], window: [1, 2, 3] }, {}, (at) => ({
    program_seconds: { ...spread([10, 5, 7][at] ?? 0), p50: at > 0 ? 2 : 1 },
  }));
  expect(told).toMatch(/^Take window 2: programs 2\.0x faster than window 1 \(0\.50, 0\.50–0\.50\), p50 2\.0x slower;/);
});

it('keeps the first setting where nothing else may be better, and else says that it cannot tell', () => {
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const uneven = (at: number, seed: number) => ({
    program_seconds: spread(at % 2 === 1 && seed % 2 === 0 ? 4 : at % 2 === 1 ? 16 : 10),
  });
  const told = (lists: object, programs: number) => linesOf({ policy: BOTH, ...lists }, { seeds, programs }, uneven)[0];
  expect(told({ rate: [1] }, 300)).toBe(
    'Too few programs to tell whether anything is better than pass-through: run again with --programs 1200, about 4 times as long.',
  );
  const later = linesOf({ policy: BOTH, rate: [1] }, { seeds: [101, 102, 103] }, (at, seed) => ({
    program_seconds: spread(at === 0 ? 10 : 4 * (seed - 100)),
  }));
  expect(later[0]).toContain('run again with --seed 101..116 --programs 1200, ');
  expect(told({ rate: [1] }, 1001)).toBe('These runs cannot tell whether plas is better than pass-through.');
  const lost = (at: number) => ({ program_seconds: spread(at % 2 === 0 ? 10 : 12) });
  expect(linesOf({ rate: [1], policy: BOTH }, { programs: 300 }, lost)[0]).toBe(
    'Keep pass-through: nothing is significantly better. Most is lost: programs 20 % slower; first token p99 20 % slower (10 -> 12 s).',
  );
  expect(linesOf({ policy: BOTH, conditions: ['none', 'production'] }, {}, lost)[0]).toMatch(
    /^Keep pass-through: nothing is significantly better without failures and under production\./,
  );
  // On how many engines it is sustained is told; whether it pays there is not.
  const few = linesOf({ engines: [1, 2], policy: BOTH }, { seeds }, (at, seed) => ({
    queue_grew: at < 2,
    program_seconds: spread(at === 3 ? 4 + seed : 10),
  }));
  expect(few.at(-1)).toMatch(
    /^Too few seeds (and programs )?to tell whether anything is better than pass-through at loads .*: run again with --seed 1\.\.\d+/,
  );
});

it('names what is faster where that is too little for its price, or only to the first token', () => {
  const [kept] = linesOf({ concurrency: [1], policy: BOTH }, { programs: 25 }, (at) => ({
    program_seconds: spread(at === 0 ? 100 : 97),
    ttft_seconds: spread(at === 0 ? 10 : 60),
  }));
  expect(kept).toBe(
    'Keep pass-through: plas is 3 % faster, too little for its price: first token p99 6.0x slower (10 -> 60 s).',
  );
  const among = (mean: number, tail: number) =>
    linesOf({ concurrency: [1, 2], policy: BOTH }, {}, (at) => ({
      program_seconds: spread(at === 3 ? mean : 100),
      ttft_seconds: { ...spread(10), p99: at === 3 ? tail : 10 },
    }))[0];
  expect(among(97, 60)).toBe(
    'Keep pass-through: with 2 at a time, plas is 3 % faster, too little for its price: first token p99 6.0x slower (10 -> 60 s).',
  );
  expect(among(100, 1)).toBe(
    'Keep pass-through: with 2 at a time, plas makes programs no faster, but first token p99 10x faster (10 -> 1 s).',
  );
  expect(among(100, 60)).toBe(
    'Keep pass-through: nothing is significantly better. Most is lost: first token p99 6.0x slower (10 -> 60 s) with 2 at a time.',
  );
});

it('names what looks at higher loads where one shows no gain, and nothing where most programs fail', () => {
  const given = { concurrency: [8], policy: BOTH };
  const of = (at: number) => ({ program_seconds: spread(10 + (at % 2) / 100) });
  const told = (...concurrency: number[]) => linesOf({ ...given, concurrency }, {}, of)[1];
  expect([told(8), told(6, 8)]).toEqual(
    Array(2).fill(
      'A higher load may show a gain: run again with --concurrency auto --programs 400, which looks for one.',
    ),
  );
  // A higher one than a load that overloads a seed is none to be sustained.
  expect(
    linesOf({ rate: [1], policy: BOTH }, {}, (at, seed) => ({ ...of(at), queue_grew: seed === 1 })).join(),
  ).not.toContain('A higher load');
  const { plan, runs } = madeUp(given, {}, (at) => ({ ...of(at), failed: 2000 }));
  expect(recommend(plan, runs)).toBeUndefined();
});

it('says of settings without any effect that they had none', () => {
  const same = 'All settings gave the same results: what differs never came into play.';
  const higher = (flags: string) => `A higher load may show a gain: run again with ${flags}, which looks for one.`;
  expect(linesOf({ concurrency: [8], window: [1024, 2048] })).toEqual([
    same,
    higher('--concurrency auto --programs 400'),
  ]);
  expect(linesOf({ window: [1024, 2048] }, { isExact: true, seeds: [0] })).toEqual([same, higher('--rate auto')]);
  expect(linesOf({ concurrency: [8], conditions: ['none', 'production'] })).toEqual([same]);
});

it('says after a search over numbers at a time without a gain what would take it further', () => {
  const lines = linesOf({ concurrency: [8, 12], policy: BOTH }, { searched: 'concurrency', programs: 100 });
  expect(lines).toContain(
    'Up to 12 at a time, nothing is better; more at a time need more programs: run again with --programs 600, about 6 times as long.',
  );
});

it('calls a load unknown that engines may still fill under, unless programs are too slow for that', () => {
  const stateOf = (mean: number, slowdown: number) => {
    const { plan, runs } = madeUp({ rate: [1] }, { seeds: [1] }, () => ({
      program_seconds: spread(mean),
      slowdown: spread(slowdown),
      queue_grew: true,
      programs: 800,
    }));
    return loadOf(plan, runs, 0).state;
  };
  // Programs come for 800 s.
  expect([stateOf(99, 2.5), stateOf(101, 2.5), stateOf(101, 4)]).toEqual(['overloaded', 'unknown', 'overloaded']);
});

it('asks for seeds where settings sustain a load that overloads the first, and for nothing where no call waits', () => {
  const seeds = [1, 2, 3, 4];
  const open = linesOf({ rate: [0.4], policy: BOTH }, { seeds }, (at, seed) => ({
    queue_grew: at === 0 && seed > 2,
    program_seconds: spread(at === 0 ? 10 : 4 + 2 * seed),
  }));
  expect(open[0]).toMatch(
    /^Too few seeds to tell whether anything is better than pass-through.*: run again with --seed 1\.\.16, about 4 times as long\./,
  );
  const { plan, runs } = madeUp(
    { rate: [0.4], policy: BOTH, conditions: ['none', 'production'] },
    { seeds: [1] },
    () => ({ queue_seconds: spread(0), engine_waits: 0, completed: 3000 }),
  );
  expect(recommend(plan, runs)).toBeUndefined();
});
