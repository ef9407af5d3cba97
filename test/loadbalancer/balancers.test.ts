import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { engineId, programId, tokens, type Candidate, type Placeable, type Usage } from '../../src/index.js';
import { balancerNamed, Desk, sentOut } from '../support/core-desk.js';
import { lost } from '../support/core-events.js';

const LONG = 5_000;

function engine(index: number, loadTokens = 0, inFlight = 0, capacityTokens?: number): Candidate {
  return { id: engineId(`E${index}`), index, inFlight, loadTokens, capacityTokens };
}

function call(promptTokens: number, prefix: readonly number[] = []): Placeable {
  return { program: { id: programId('p') }, promptTokens, prefix };
}

describe('program-affinity', () => {
  const balancer = balancerNamed('program-affinity', 2_048);
  const [a, b] = [engine(0, 10), engine(1, 5)];

  it('spreads calls of up to the threshold, and they bind nothing', () => {
    expect(balancer.place(call(2_048), a, [a, b])).toBeUndefined();
    expect(balancer.binds(call(2_048), engine(0))).toBe(false);
    expect(balancer.choose(call(2_048), [a, b])).toBe(b);
  });

  it('sends longer calls home, and to the least loaded where there is none, which they bind', () => {
    expect(balancer.place(call(2_049), a, [a, b])).toBe(a);
    expect(balancer.place(call(2_049), undefined, [a, b])).toBeUndefined();
    expect(balancer.choose(call(2_049), [a, b])).toBe(b);
    expect(balancer.binds(call(2_049), engine(0))).toBe(true);
  });

  it('takes a shorter call for long where the cache is small', () => {
    const small = engine(2, 0, 0, 12_800);
    expect([balancer.place(call(256), small, [a, small]), balancer.place(call(257), small, [a, small])]).toEqual([
      undefined,
      small,
    ]);
    expect([balancer.binds(call(256), small), balancer.binds(call(257), small)]).toEqual([false, true]);
    expect(balancer.binds(call(2_048), engine(3, 0, 0, 432_000))).toBe(false);
  });

  describe('with a measured threshold', () => {
    const usage = (prompt: number, cached: number): Usage => ({
      promptTokens: tokens(prompt),
      outputTokens: tokens(1),
      cachedTokens: tokens(cached),
    });
    const adaptive = () => makeBalancer({ name: 'program-affinity', thresholdTokens: 2_000, adaptThreshold: true });
    const measure = (subject: ReturnType<typeof adaptive>, cached: number, times: number, warm = false) => {
      for (let left = times; left > 0; left -= 1)
        for (const prompt of [500, 900, 1_800, 3_000, 6_000])
          subject.finished?.(call(prompt), usage(prompt, prompt * cached), warm);
    };

    it('sends more calls home when short ones that ran elsewhere miss the cache, down to a quarter', () => {
      const subject = adaptive();
      measure(subject, 0.1, 200);
      expect([subject.binds(call(501), engine(0)), subject.binds(call(499), engine(0))]).toEqual([true, false]);
    });

    it('spreads more calls when they hit anyway, up to four times', () => {
      const subject = adaptive();
      measure(subject, 0.95, 200);
      expect([subject.binds(call(8_001), engine(0)), subject.binds(call(7_999), engine(0))]).toEqual([true, false]);
    });

    it('learns nothing from calls that ran where their program was, nor without numbers', () => {
      const subject = adaptive();
      measure(subject, 0.1, 200, true);
      subject.finished?.(call(1_800), { promptTokens: tokens(1_800), outputTokens: tokens(1) }, false);
      subject.finished?.(call(1_800), usage(0, 0), false);
      expect([subject.binds(call(2_001), engine(0)), subject.binds(call(2_000), engine(0))]).toEqual([true, false]);
    });
  });

  it('binds late: a short call that waits goes to whichever engine has room first', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.join('B', { window: 1 });
    for (const id of ['a', 'b', 'c', 'd']) desk.arrive(id);
    expect(sentOut(desk.finish('b'))).toEqual(['c@B']);
    expect(sentOut(desk.finish('c'))).toEqual(['d@B']);
    expect(desk.program('of-c').home).toBeUndefined();
  });

  it('binds on dispatch, and long calls then wait for their home though another engine is free', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.join('B', { window: 1 });
    desk.arrive('p1', { program: 'p', prompt: LONG });
    expect(desk.dispatchOf('p1')).toMatchObject({ engine: 'A', placement: 'bound' });
    expect(desk.arrive('p2', { program: 'p', prompt: LONG })).toEqual([]);
    expect(sentOut(desk.arrive('q1'))).toEqual(['q1@B']);
    expect(desk.dispatchOf('q1')?.placement).toBe('spread');
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
    expect(desk.dispatchOf('p2')?.placement).toBe('home');
  });

  it('keeps a program that was queued before it had a home on one engine', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.join('B', { window: 1 });
    desk.arrive('a');
    desk.arrive('b');
    for (const id of ['p1', 'p2', 'p3']) desk.arrive(id, { program: 'p', prompt: LONG });
    expect(sentOut(desk.finish('a'))).toEqual(['p1@A']);
    expect(desk.finish('b')).toEqual([]);
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
    expect(desk.dispatchOf('p2')?.placement).toBe('home');
    expect(desk.scheduler.totals.spilled).toBe(0);
  });

  it('binds anew when the home is lost', () => {
    const desk = new Desk();
    desk.join('A', { window: 2 });
    desk.arrive('p1', { program: 'p', prompt: LONG });
    desk.join('B', { window: 2 });
    desk.tell(lost('A'));
    expect(sentOut(desk.arrive('p2', { program: 'p', prompt: LONG }))).toEqual(['p2@B']);
    expect(desk.dispatchOf('p2')?.placement).toBe('bound');
    expect(desk.program('p').home).toBe('B');
  });

  it('counts work that waits for an engine as its load', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.arrive('p1', { program: 'p', prompt: LONG });
    desk.arrive('p2', { program: 'p', prompt: LONG });
    desk.join('B', { window: 3 });
    desk.finish('p1'); // Sends p2 out on A.
    desk.arrive('b1', { prompt: 300 });
    desk.arrive('b2', { prompt: 300 });
    expect([desk.dispatchOf('b1')?.engine, desk.dispatchOf('b2')?.engine]).toEqual(['B', 'B']);
  });
});

describe('least-loaded', () => {
  const balancer = balancerNamed('least-loaded');

  it('compares tokens, then calls, then the order of joining', () => {
    const choose = (...open: readonly Candidate[]) => balancer.choose(call(1), open).index;
    expect(choose(engine(0, 9, 1), engine(1, 8, 5))).toBe(1);
    expect(choose(engine(0, 8, 2), engine(1, 8, 1))).toBe(1);
    expect(choose(engine(2, 8, 1), engine(1, 8, 1))).toBe(1);
  });

  it('knows no programs', () => {
    expect(balancer.place(call(LONG), engine(0), [engine(0)])).toBeUndefined();
    expect(balancer.binds(call(LONG), engine(0))).toBe(false);
  });
});

describe('round-robin', () => {
  it('takes the engines in turn, passing over those that are not open', () => {
    const balancer = balancerNamed('round-robin');
    const [a, b, c] = [engine(0), engine(1), engine(5)];
    const taken = [[a, b, c], [a, b, c], [a, b, c], [a, b, c], [a, c], [a, b], [b], [b], [a, c]].map(
      (open) => balancer.choose(call(1), open).index,
    );
    expect(taken).toEqual([0, 1, 5, 0, 5, 0, 1, 1, 5]);
  });

  it('spreads over engines whatever their load', () => {
    const desk = new Desk({}, 'round-robin');
    desk.join('A', { window: 4 });
    desk.join('B', { window: 4 });
    for (let n = 0; n < 4; n += 1) desk.arrive(`c${n}`, { prompt: n % 2 === 0 ? 9_000 : 1 });
    expect(sentOut(desk.log)).toEqual(['c0@A', 'c1@B', 'c2@A', 'c3@B']);
  });
});

describe('sticky', () => {
  it('keeps every call of a program, short ones too, on the engine of its first', () => {
    const desk = new Desk({}, 'sticky');
    desk.join('A', { window: 1 });
    desk.join('B', { window: 1 });
    desk.arrive('p1', { program: 'p', prompt: 10 });
    expect(desk.arrive('p2', { program: 'p', prompt: 10 })).toEqual([]);
    expect(sentOut(desk.arrive('q1', { program: 'q' }))).toEqual(['q1@B']);
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
  });

  it('also when its calls were queued before it had an engine', () => {
    const desk = new Desk({}, 'sticky');
    desk.join('A', { window: 1 });
    desk.join('B', { window: 1 });
    for (const id of ['a', 'b']) desk.arrive(id);
    for (const id of ['p1', 'p2']) desk.arrive(id, { program: 'p' });
    expect(sentOut(desk.finish('a'))).toEqual(['p1@A']);
    expect(desk.finish('b')).toEqual([]);
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
  });

  it('keeps it there while that engine has no room', () => {
    const desk = new Desk({}, 'sticky');
    for (const id of ['A', 'B']) desk.join(id, { window: 4 });
    desk.arrive('p1', { program: 'p' });
    expect(desk.fail('p1', 'unreached', 500)).toEqual([]);
    expect(desk.arrive('p2', { program: 'p' })).toEqual([]);
    expect(sentOut(desk.pass(500))).toEqual(['p1@A', 'p2@A']);
    expect(desk.program('p').home).toBe('A');
  });

  it('moves a program only when its engine is gone', () => {
    const desk = new Desk({}, 'sticky');
    desk.join('A', { window: 1 });
    desk.arrive('p1', { program: 'p' });
    desk.arrive('p2', { program: 'p' });
    desk.join('B', { window: 1 });
    expect(sentOut(desk.tell(lost('A')))).toEqual(['p2@B']);
  });
});

describe('prefix-aware', () => {
  const [a, b] = [engine(0, 100), engine(1, 5)];
  const blocks = (n: number, from = 0) => Array.from({ length: n }, (_, index) => from + index);

  it('asks its driver for prefixes', () => {
    expect(balancerNamed('prefix-aware').readsPrefix).toBe(true);
  });

  it('goes where the longest prefix was sent, else to the least loaded', () => {
    const balancer = balancerNamed('prefix-aware');
    balancer.dispatched?.(call(1, blocks(10)), a);
    balancer.dispatched?.(call(1, blocks(6)), b);
    expect(balancer.place(call(1, blocks(10)), undefined, [a, b])).toBe(a);
    expect(balancer.place(call(1, blocks(10, 500)), undefined, [a, b])).toBeUndefined();
    expect(balancer.choose(call(1, blocks(10, 500)), [a, b])).toBe(b);
  });

  it('counts leading blocks only, and wants at least half of the prompt', () => {
    const balancer = balancerNamed('prefix-aware');
    balancer.dispatched?.(call(1, blocks(5)), a);
    expect(balancer.place(call(1, [...blocks(5), ...blocks(5, 100)]), undefined, [a, b])).toBe(a);
    expect(balancer.place(call(1, [...blocks(5), ...blocks(6, 100)]), undefined, [a, b])).toBeUndefined();
    expect(balancer.place(call(1, [99, ...blocks(5)]), undefined, [a, b])).toBeUndefined();
    expect(balancer.place(call(1, []), undefined, [a, b])).toBeUndefined();
  });

  it('gives up on the prefix while engines are out of balance: by more than 16 calls and half as many again', () => {
    const balancer = balancerNamed('prefix-aware');
    balancer.dispatched?.(call(1, blocks(5)), a);
    const place = (inFlightA: number, inFlightB: number) =>
      balancer.place(call(1, blocks(5)), undefined, [engine(0, 0, inFlightA), engine(1, 0, inFlightB)])?.index;
    expect([place(16, 0), place(17, 0), place(50, 34), place(60, 40), place(61, 40)]).toEqual([
      0,
      undefined,
      0,
      0,
      undefined,
    ]);
  });

  it('forgets what a lost engine held', () => {
    const balancer = balancerNamed('prefix-aware');
    balancer.dispatched?.(call(1, blocks(5)), a);
    balancer.lost?.(a);
    expect(balancer.place(call(1, blocks(5)), undefined, [a, b])).toBeUndefined();
  });

  it('remembers a bounded number of blocks for each engine', () => {
    const balancer = balancerNamed('prefix-aware');
    balancer.dispatched?.(call(1, blocks(5)), a);
    balancer.dispatched?.(call(1, blocks(65_536, 1_000)), a);
    expect(balancer.place(call(1, blocks(5)), undefined, [a, b])).toBeUndefined();
    expect(balancer.place(call(1, blocks(5, 1_000)), undefined, [a, b])).toBe(a);
  });

  it('works through the scheduler: programs with one prefix meet on one engine', () => {
    const desk = new Desk({}, 'prefix-aware');
    desk.join('A', { window: 8 });
    desk.join('B', { window: 8 });
    desk.arrive('a1', { prefix: [1, 2, 3], prompt: 900 });
    desk.arrive('b1', { prefix: [7, 8, 9], prompt: 900 });
    desk.arrive('a2', { prefix: [1, 2, 3, 4], prompt: 900 });
    desk.arrive('a3', { prefix: [1, 2, 3], prompt: 900 });
    expect(sentOut(desk.log)).toEqual(['a1@A', 'b1@B', 'a2@A', 'a3@A']);
  });
});
