import { describe, expect, it } from 'vitest';
import { millis, Scheduler, type Event } from '../../src/index.js';
import { coreConfig } from '../support/core-config.js';
import { balancerNamed, Desk, sentOut } from '../support/core-desk.js';
import { arrived, cancelled, ended, joined, lost, progressed, woke } from '../support/core-events.js';

describe('order', () => {
  it('says how a call came to its place', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('b');
    desk.pass(70);
    desk.finish('a');
    expect(desk.dispatchOf('a')).toMatchObject({ reason: 'direct', queueMs: 0, level: 0 });
    expect(desk.dispatchOf('b')).toMatchObject({ reason: 'queued', queueMs: 70 });
    desk.fail('b', 'broken');
    expect(desk.dispatchOf('b')).toMatchObject({ reason: 'retried', queueMs: 70 });
  });
});

describe('what drivers may get wrong', () => {
  it('a repeated id of an active call throws, and what was due by then is not lost', () => {
    const desk = new Desk({ timeouts: { queueMs: 100 } }).with('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('b');
    desk.nowMs = 500;
    expect(() => desk.arrive('a')).toThrow();
    expect(desk.tell(woke)).toEqual([{ type: 'reject', call: 'b', refusal: 'queue_timeout' }]);
  });

  it('an id is free again once its call has ended', () => {
    const desk = new Desk().with('A');
    desk.serve('a');
    expect(sentOut(desk.arrive('a'))).toEqual(['a@A']);
  });

  it('events about what is not there change nothing', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('waits');
    expect(desk.finish('waits')).toEqual([]);
    expect(desk.fail('waits', 'lost')).toEqual([]);
    expect(desk.finish('x')).toEqual([]);
    for (const event of [cancelled('x'), ended('x'), lost('x'), progressed('x', 1)])
      expect(desk.tell(event)).toEqual([]);
    expect([desk.engine('A').inFlight, desk.scheduler.views.queue().waiting]).toEqual([1, 1]);
  });

  it.each([NaN, Infinity, -Infinity])('%s is no time', (now) => {
    const scheduler = new Scheduler(coreConfig(), balancerNamed('sticky'));
    expect(() => scheduler.step(woke, now as ReturnType<typeof millis>)).toThrow(RangeError);
    expect(() => scheduler.configure(coreConfig(), balancerNamed('sticky'), now as ReturnType<typeof millis>)).toThrow(
      RangeError,
    );
  });

  it('no more of a prompt counts as cached than there was of it', () => {
    const told: unknown[] = [];
    const balancer = {
      ...balancerNamed('least-loaded'),
      finished: (_call: unknown, usage: unknown) => told.push(usage),
    };
    const desk = new Desk({}, balancer).with('A', { capacity: 1_000 });
    desk.serve('a', { program: 'p' }, { prompt: 100, output: 10, cached: 5_000 });
    expect(told).toEqual([{ promptTokens: 100, outputTokens: 10, cachedTokens: 100 }]);
    expect(desk.program('p').cachedTokens).toBe(100);
  });

  it('time that goes back counts as standing still', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.nowMs = 1_000;
    desk.arrive('a', { program: 'p' });
    desk.arrive('b');
    desk.nowMs = 200;
    desk.finish('a');
    expect(desk.program('p').serviceMs).toBe(0);
    expect(desk.dispatchOf('b')?.queueMs).toBe(0);
  });

  it.each([
    { admission: { window: 2.5 } },
    { admission: { windowMax: 1e10 } },
    { admission: { outputReserveTokens: 0.5 } },
    { limits: { programsMax: 1.5 } },
    { limits: { queuedMax: Infinity } },
    { limits: { enginesFailedMax: NaN } },
    { limits: { clientRetries: -1 } },
    { policy: { firstQuantumMs: 0 } },
    { starvation: { beta: -1 } },
    { starvation: { waitMsMax: Infinity } },
    { admission: { window: 0 } },
    { admission: { windowInitial: 1, windowMin: 2 } },
    { admission: { gate: NaN } },
    { admission: { halfLifeMs: 0 } },
    { limits: { programsMax: 0 } },
    { timeouts: { queueMs: 0 } },
  ])('settings out of range are refused: %j', (changes) => {
    expect(() => new Scheduler(coreConfig(changes), balancerNamed('sticky'))).toThrow(RangeError);
    const desk = new Desk();
    expect(() => desk.configure(changes)).toThrow(RangeError);
  });
});

it('says once when to wake it', () => {
  const scheduler = new Scheduler(coreConfig({ timeouts: { queueMs: 1_000 } }), balancerNamed('sticky'));
  const wakes = (event: Event) => scheduler.step(event, millis(0)).filter(({ type }) => type === 'wakeAt');
  for (const event of [joined('A', { window: 1 }), arrived('a')]) wakes(event);
  expect(wakes(arrived('b'))).toEqual([{ type: 'wakeAt', at: 1_000 }]);
  expect(wakes(progressed('a', 1))).toEqual([]);
});

describe('configure', () => {
  it('loses no call: what waits is ranked anew in order of arrival, what runs goes on', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.serve('past', { program: 'old' }, { afterMs: 3_000 });
    for (const [call, program] of [
      ['run', 'x'],
      ['old-call', 'old'],
      ['young-call', 'y'],
    ] as const)
      desk.arrive(call, { program });
    expect(desk.configure({ policy: { name: 'fcfs-window' } })).toEqual([]);
    expect(sentOut(desk.finish('run'))).toEqual(['old-call@A']);
    desk.configure({ policy: { name: 'plas' } });
    expect(sentOut(desk.finish('old-call'))).toEqual(['young-call@A']);
  });

  it('lets more go out at once when the window grows, and none be called back when it shrinks', () => {
    const desk = new Desk({ admission: { window: 1 } }).with('A');
    for (const call of ['a', 'b', 'c', 'd']) desk.arrive(call);
    expect(sentOut(desk.configure({ admission: { window: 3 } }))).toEqual(['b@A', 'c@A']);
    expect(desk.configure({ admission: { window: 1 } })).toEqual([]);
    expect([desk.finish('a'), desk.finish('b')]).toEqual([[], []]);
    expect(sentOut(desk.finish('c'))).toEqual(['d@A']);
  });

  it('asks the new balancer from then on', () => {
    const desk = new Desk({}, 'sticky').with(['A', 'B']);
    expect(sentOut(desk.arrive('a', { program: 'p' }))).toEqual(['a@A']);
    desk.configure({}, 'least-loaded');
    expect(sentOut(desk.arrive('b', { program: 'p' }))).toEqual(['b@B']);
  });

  it('sets deadlines anew', () => {
    const desk = new Desk({ timeouts: { queueMs: 100_000 } }).with('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('b');
    desk.pass(500);
    desk.configure({ timeouts: { queueMs: 600 } });
    expect(desk.pass(99)).toEqual([]);
    expect(desk.pass(1)).toMatchObject([{ type: 'reject', refusal: 'queue_timeout' }]);
  });
});
