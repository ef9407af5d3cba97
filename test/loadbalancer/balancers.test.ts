import { describe, expect, it } from 'vitest';
import { BalancerInUse, defaults, makeBalancer } from '../../loadbalancer/index.js';
import { callId, engineId, programId, tokens, type Candidate, type Placeable, type Usage } from '../../src/index.js';
import { balancerNamed, Desk, sentOut } from '../support/core-desk.js';
import { lost } from '../support/core-events.js';

const LONG = 5_000;

function engine(index: number, loadTokens = 0, inFlight = 0, capacityTokens?: number): Candidate {
  return { id: engineId(`E${index}`), index, inFlight, loadTokens, capacityTokens };
}

function call(promptTokens: number): Placeable {
  return { id: callId('c'), program: { id: programId('p') }, promptTokens };
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

  it('binds on dispatch, and long calls then wait for their home though another engine is free', () => {
    const desk = new Desk().with(['A', 'B'], { window: 1 });
    desk.arrive('p1', { program: 'p', prompt: LONG });
    expect(desk.dispatchOf('p1')).toMatchObject({ engine: 'A', placement: 'bound' });
    expect(desk.arrive('p2', { program: 'p', prompt: LONG })).toEqual([]);
    expect(sentOut(desk.arrive('q1'))).toEqual(['q1@B']);
    expect(desk.dispatchOf('q1')?.placement).toBe('spread');
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
    expect(desk.dispatchOf('p2')?.placement).toBe('home');
  });

  it('keeps a program that was queued before it had a home on one engine', () => {
    const desk = new Desk().with(['A', 'B'], { window: 1 });
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
    const desk = new Desk().with('A', { window: 2 });
    desk.arrive('p1', { program: 'p', prompt: LONG });
    desk.join('B', { window: 2 });
    desk.tell(lost('A'));
    expect(sentOut(desk.arrive('p2', { program: 'p', prompt: LONG }))).toEqual(['p2@B']);
    expect(desk.dispatchOf('p2')?.placement).toBe('bound');
    expect(desk.program('p').home).toBe('B');
  });

  it('counts work that waits for an engine as its load', () => {
    const desk = new Desk().with('A', { window: 1 });
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
});

describe('sticky', () => {
  it('keeps every call of a program, short ones too, on the engine of its first', () => {
    const desk = new Desk({}, 'sticky').with(['A', 'B'], { window: 1 });
    desk.arrive('p1', { program: 'p', prompt: 10 });
    expect(desk.arrive('p2', { program: 'p', prompt: 10 })).toEqual([]);
    expect(sentOut(desk.arrive('q1', { program: 'q' }))).toEqual(['q1@B']);
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
  });

  it('also when its calls were queued before it had an engine', () => {
    const desk = new Desk({}, 'sticky').with(['A', 'B'], { window: 1 });
    for (const id of ['a', 'b']) desk.arrive(id);
    for (const id of ['p1', 'p2']) desk.arrive(id, { program: 'p' });
    expect(sentOut(desk.finish('a'))).toEqual(['p1@A']);
    expect(desk.finish('b')).toEqual([]);
    expect(sentOut(desk.finish('p1'))).toEqual(['p2@A']);
  });

  it('keeps it there while that engine has no room', () => {
    const desk = new Desk({}, 'sticky').with(['A', 'B'], { window: 4 });
    desk.arrive('p1', { program: 'p' });
    expect(desk.fail('p1', 'unreached', 500)).toEqual([]);
    expect(desk.arrive('p2', { program: 'p' })).toEqual([]);
    expect(sentOut(desk.pass(500))).toEqual(['p1@A', 'p2@A']);
    expect(desk.program('p').home).toBe('A');
  });
});

describe('the balancer in use', () => {
  it('keeps what it has learnt until its own options change', () => {
    const inUse = new BalancerInUse();
    const first = inUse.for(defaults);
    expect(inUse.for({ ...defaults, ...{ spillMs: 1 } })).toBe(first);
    const changes = [{ name: 'sticky' }, { thresholdTokens: 1 }, { adaptThreshold: false }] as const;
    for (const change of changes) {
      const before = inUse.for(defaults);
      expect(inUse.for({ ...defaults, ...change })).not.toBe(before);
    }
    expect(inUse.for(defaults)).not.toBe(first);
  });
});
