import { describe, expect, it } from 'vitest';
import type { Millis } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { cancelled, ended, finished, lost, progressed, started, woke } from '../../support/core-events.js';

/** A desk with one wide engine. */
function openDesk(changes: ConstructorParameters<typeof Desk>[0] = {}): Desk {
  return new Desk(changes).with('A', { window: 50 });
}

/** Runs calls of program `p` one after another, each for its time. */
function runSerially(desk: Desk, ...durationsMs: readonly number[]): void {
  for (const afterMs of durationsMs) desk.serve(`s${desk.nowMs}`, { program: 'p' }, { afterMs });
}

describe('attained service', () => {
  it('is all that a program has taken, where it is charged its work', () => {
    const desk = openDesk({ policy: { charge: 'work' } });
    runSerially(desk, 100);
    desk.arrive('long', { program: 'p' });
    desk.serve('short', { program: 'p' }, { afterMs: 50 });
    expect(desk.program('p').serviceMs).toBe(150);
    desk.pass(350);
    desk.finish('long');
    expect(desk.program('p').serviceMs).toBe(550);
  });

  it('that is charged its work counts the waiting of all its calls against it', () => {
    const promotionsOf = (charge: 'work' | 'chain'): number => {
      const starvation = { beta: 1, floorMs: 250, waitMsMax: 1e6 };
      const desk = new Desk({ policy: { charge }, starvation }).with('A', { window: 2 });
      // Both calls of p wait 100 ms, and run for 1 ms beside each other.
      for (const id of ['x', 'y']) desk.arrive(id);
      for (const id of ['p1', 'p2']) desk.arrive(id, { program: 'p' });
      desk.pass(100);
      for (const id of ['x', 'y']) desk.finish(id);
      desk.pass(1);
      for (const id of ['p1', 'p2']) desk.finish(id);
      // At 2 s of service it stands at a lower level.
      desk.serve('p3', { program: 'p' }, { prompt: 1, output: 1, serviceMs: 2_000 });
      for (const id of ['v', 'w']) desk.arrive(id);
      desk.arrive('late', { program: 'p' });
      desk.pass(1_850);
      desk.tell(woke);
      return desk.program('p').promotions;
    };
    expect([promotionsOf('work'), promotionsOf('chain')]).toEqual([1, 0]);
  });

  it.each(['work', 'chain'] as const)('by its %s counts no waiting before a promotion for the next one', (charge) => {
    const starvation = { beta: 1, floorMs: 100, waitMsMax: 1e6 };
    const desk = new Desk({ policy: { charge, order: 'attained' }, starvation }).with('A', { window: 1 });
    desk.serve('first', { program: 'p' }, { serviceMs: 1_000 });
    for (const call of ['promoted', 'next']) {
      desk.arrive(`before ${call}`);
      desk.arrive(call, { program: 'p' });
      desk.pass(call === 'next' ? 800 : 1_100);
      desk.finish(`before ${call}`);
      desk.finish(call);
    }
    expect(desk.program('p').promotions).toBe(1);
  });

  it('is engine time: the time in our queue is not in it', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.arrive('first');
    desk.arrive('second', { program: 'p' });
    desk.pass(700);
    desk.finish('first');
    desk.pass(40);
    desk.finish('second');
    expect(desk.program('p')).toMatchObject({ serviceMs: 40, waitingMs: 700, waitMsMax: 700 });
  });

  it("is the engine's own execution time where it says so, else dispatch to end less its own queue", () => {
    const desk = openDesk();
    desk.serve('told', { program: 'p' }, { afterMs: 100, serviceMs: 60, queueMs: 10 });
    expect(desk.program('p').serviceMs).toBe(60);
    desk.serve('queued', { program: 'p' }, { afterMs: 100, queueMs: 30 });
    expect(desk.program('p').serviceMs).toBe(130);
    desk.serve('odd', { program: 'p' }, { afterMs: 100, queueMs: 5_000 });
    expect(desk.program('p').serviceMs).toBe(130);
  });

  it('takes no time that is no number for one', () => {
    const desk = openDesk();
    desk.arrive('a', { program: 'p' });
    desk.pass(100);
    desk.tell({ ...finished('a'), serviceMs: NaN as Millis, queueMs: NaN as Millis });
    expect(desk.program('p').serviceMs).toBe(100);
  });

  it.each(['cancelled', 'lost'])('charges a %s call what it used', (how) => {
    const desk = openDesk();
    desk.arrive('a', { program: 'p' });
    desk.tell(progressed('a', 12));
    desk.pass(250);
    if (how === 'lost') desk.fail('a', 'lost');
    else desk.tell(cancelled('a'));
    expect(desk.program('p')).toMatchObject({ serviceMs: 250, outputTokens: 12, activeCalls: 0 });
  });

  it('does not charge the time since the last sign of life of an engine that was found down', () => {
    const desk = openDesk();
    for (const program of ['p', 'q']) desk.arrive(program, { program });
    desk.pass(250);
    desk.arrive('r', { program: 'r' });
    desk.pass(50);
    desk.tell(lost('A', 50));
    desk.pass(120_000);
    desk.fail('p', 'lost');
    desk.tell(cancelled('q'));
    desk.tell(cancelled('r'));
    expect(['p', 'q', 'r'].map((program) => desk.program(program).serviceMs)).toEqual([250, 250, 0]);
  });

  it('does not charge a call that was cancelled while it waited', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.arrive('first');
    desk.arrive('second', { program: 'p' });
    desk.pass(80);
    desk.tell(cancelled('second'));
    expect(desk.program('p')).toMatchObject({ serviceMs: 0, waitingMs: 80, activeCalls: 0 });
  });
});

describe('the process table', () => {
  it('keeps what Autellix keeps of a program and its active calls', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.nowMs = 10;
    desk.arrive('run', { program: 'p', thread: 'sub', prompt: 2_000 });
    desk.nowMs = 30;
    desk.arrive('wait', { program: 'p', prompt: 2_000 });
    desk.tell(started('run'));
    desk.nowMs = 100;
    desk.tell({ type: 'woke' });
    const run = {
      call: 'run',
      thread: 'sub',
      state: 'running',
      arrivedAtMs: 10,
      waitingMs: 0,
      serviceMs: 90,
      startedAtMs: 30,
    };
    const wait = { call: 'wait', thread: '', state: 'waiting', arrivedAtMs: 30, waitingMs: 70, serviceMs: 0 };
    expect(desk.program('p')).toMatchObject({
      ...{ waitingMs: 70, waitMsMax: 70, home: 'A', engines: ['A'], activeCalls: 2, callsTotal: 2 },
      ...{ createdAtMs: 10, lastArrivalAtMs: 30, lastCompletionAtMs: undefined },
      threads: [run, wait].map((call) => ({ ...call, engine: 'A' })),
    });
    desk.finish('run', { prompt: 2_100, output: 50, cached: 900 });
    const tokens = { contextTokens: 2_150, promptTokens: 2_100, cachedTokens: 900, outputTokens: 50 };
    expect(desk.program('p')).toMatchObject({ ...tokens, lastCompletionAtMs: 100 });
  });

  it('says what a program was when it leaves', () => {
    const desk = openDesk();
    runSerially(desk, 100, 200);
    expect(desk.tell(ended('p'))).toEqual([
      { type: 'programGone', program: 'p', cause: 'ended', calls: 2, serviceMs: 300, waitingMs: 0, durationMs: 300 },
    ]);
  });

  it('full: tells of the idle program that had to go, and serves a call for which there is no row', () => {
    const desk = openDesk({ limits: { programsMax: 1 } });
    runSerially(desk, 0);
    expect(desk.arrive('b', { program: 'q' })).toMatchObject([
      { type: 'programGone', program: 'p', cause: 'evicted' },
      { type: 'dispatch', call: 'b' },
    ]);
    expect(desk.arrive('c', { program: 'r' })).toMatchObject([{ type: 'dispatch', call: 'c' }]);
    expect(desk.finish('c')).toMatchObject([{ type: 'programGone', program: 'r', cause: 'evicted', calls: 1 }]);
    expect(desk.program('q').activeCalls).toBe(1);
  });

  it('with a limit lowered: the longest idle leave until it is kept, and new programs have rows again', () => {
    const desk = openDesk();
    for (const call of ['a', 'b', 'c']) {
      desk.arrive(call, { program: call });
      if (call !== 'c') desk.finish(call);
    }
    const gone = (program: string) => ({ type: 'programGone', program, cause: 'evicted' });
    desk.configure({ limits: { programsMax: 1 } });
    expect(desk.tell(woke)).toMatchObject([gone('a'), gone('b')]);
    desk.finish('c');
    expect(desk.arrive('d', { program: 'd' })).toMatchObject([gone('c'), { type: 'dispatch', call: 'd' }]);
    expect(desk.program('d').activeCalls).toBe(1);
  });
});
