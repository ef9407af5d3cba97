import { describe, expect, it } from 'vitest';
import { callId, engineId } from '../../../src/index.js';
import { earliest, reachedBy } from '../../../src/programs/escalation.js';
import { Desk, sentOut, use } from '../../support/core-desk.js';
import { arrived, cancelled, shared } from '../../support/core-events.js';

/** One slot, taken; a program that has had `serviceMs`. */
function busyDesk(starvation: { beta: number; floorMs: number; waitMsMax?: number }, serviceMs: number): Desk {
  const desk = new Desk({ starvation }).with('A', { window: 1 });
  desk.serve('past', { program: 'old' }, { afterMs: serviceMs });
  desk.arrive('blocker');
  return desk;
}

/** The promotion of this number comes after as long, and not a millisecond before. */
function expectPromotion(desk: Desk, number: number, afterMs: number): void {
  desk.pass(afterMs - 1);
  expect(desk.scheduler.totals.promotions).toBe(number - 1);
  desk.pass(1);
  expect(desk.scheduler.totals.promotions).toBe(number);
}

it('of several states that are due, the first is reached: what ends the call, then what moves it forward', () => {
  let due = { timedOut: 7, stranded: 6, retriable: 5, overdue: 4, promoted: 3, aged: 2, stealable: 1 };
  const reached: unknown[] = [];
  for (let state = reachedBy(due, 7); state !== undefined; state = reachedBy(due, 7)) {
    reached.push(state);
    due = { ...due, [state]: Infinity };
  }
  expect(reached).toEqual(['timedOut', 'stranded', 'retriable', 'overdue', 'promoted', 'aged', 'stealable']);
  expect(earliest(due)).toBe(Infinity);
  expect(earliest({ ...due, retriable: 9, aged: 8 })).toBe(8);
});

describe('an objective', () => {
  it('makes a call overdue after its own wait, so that it goes before younger programs', () => {
    const desk = busyDesk({ beta: 1e6, floorMs: 1e6 }, 3_000);
    desk.arrive('urgent', { program: 'old', waitMsMax: 5_000 });
    desk.arrive('young');
    expectPromotion(desk, 1, 5_000);
    expect(desk.scheduler.totals.overdue).toBe(1);
    expect(sentOut(desk.finish('blocker'))).toEqual(['urgent@A']);
  });

  it('above the general limit changes nothing', () => {
    const desk = busyDesk({ beta: 1e6, floorMs: 1e6, waitMsMax: 4_000 }, 3_000);
    desk.arrive('patient', { program: 'old', waitMsMax: 50_000 });
    expectPromotion(desk, 1, 4_000);
  });
});

describe('promotion', () => {
  it('comes when waiting over service reaches beta, and moves the call before younger programs', () => {
    const desk = busyDesk({ beta: 2, floorMs: 100 }, 3_000);
    desk.arrive('starved', { program: 'old' });
    desk.pass(5_999);
    desk.arrive('young');
    expect(desk.scheduler.totals.promotions).toBe(0);
    desk.pass(1);
    expect(desk.scheduler.totals.promotions).toBe(1);
    expect(sentOut(desk.finish('blocker'))).toEqual(['starved@A']);
    expect(desk.dispatchOf('starved')).toMatchObject({ level: 0, reason: 'promoted', queueMs: 6_000 });
  });

  it('takes the ratio against the floor, without which a new program would be promoted at once', () => {
    const starvation = { beta: 2, floorMs: 4_000 };
    const desk = new Desk({ starvation, policy: { firstQuantumMs: 10 } }).with('A', { window: 1 });
    desk.serve('past', { program: 'old' }, { afterMs: 20 });
    desk.arrive('blocker');
    desk.arrive('waits', { program: 'old' });
    expectPromotion(desk, 1, 8_000);
  });

  it('counts the waiting of the calls before, and a promotion starts that window anew', () => {
    const desk = busyDesk({ beta: 2, floorMs: 100 }, 3_000);
    desk.arrive('w1', { program: 'old' });
    desk.pass(4_000);
    desk.tell(cancelled('w1'));
    desk.arrive('w2', { program: 'old' });
    desk.pass(2_000);
    expect(desk.scheduler.totals.promotions).toBe(1);
    desk.tell(cancelled('w2'));
    desk.arrive('w3', { program: 'old' });
    expectPromotion(desk, 2, 6_000);
  });

  it('of one of several parallel calls starts the window anew for the others', () => {
    const desk = busyDesk({ beta: 2, floorMs: 100 }, 3_000);
    for (const call of ['a', 'b', 'c', 'd', 'e']) desk.arrive(call, { program: 'old' });
    desk.pass(6_000);
    expect(desk.scheduler.totals.promotions).toBe(1);
    expectPromotion(desk, 2, 6_000);
  });

  it('lets no wait from before it count for a call that comes after', () => {
    const desk = busyDesk({ beta: 2, floorMs: 100 }, 3_000);
    for (const call of ['a', 'b']) desk.arrive(call, { program: 'old' });
    desk.pass(6_500);
    desk.tell(cancelled('b')); // Waited 6,500 ms, 500 of them since the promotion of `a`.
    desk.tell(cancelled('a'));
    desk.arrive('next', { program: 'old' });
    expectPromotion(desk, 2, 5_500);
  });

  it('is not for a call that is in the first queue already', () => {
    const desk = busyDesk({ beta: 2, floorMs: 100 }, 10);
    desk.arrive('starved', { program: 'old' });
    desk.pass(60_000);
    expect(desk.scheduler.totals).toMatchObject({ promotions: 0, overdue: 0 });
  });
});

describe('spilling', () => {
  /** `p` lives on A, which is full for good; B is there. */
  function homeDesk(balancer: 'program-affinity' | 'sticky', bWindow = 1): Desk {
    const desk = new Desk({ balancer: { spillMs: 2_000 } }, balancer).with('A', { window: 1 });
    desk.serve('past', { program: 'p', prompt: 5_000 });
    desk.join('B', { window: bWindow });
    desk.arrive('blocker', { program: 'blocking', prompt: 50, ...(balancer === 'sticky' && { program: 'p' }) });
    expect(desk.dispatchOf('blocker')?.engine).toBe('A');
    return desk;
  }

  it('lets a long call leave its full home after spillMs, and binds its program anew', () => {
    const desk = homeDesk('program-affinity');
    expect(desk.arrive('long', { program: 'p', prompt: 5_000 })).toEqual([]);
    expect(desk.pass(1_999)).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['long@B']);
    expect(desk.dispatchOf('long')?.placement).toBe('spilled');
    expect(desk.program('p').home).toBe('B');
    expect(desk.scheduler.totals.spilled).toBe(1);
  });

  it('of a short call moves no program', () => {
    const desk = homeDesk('program-affinity');
    expect(sentOut(desk.arrive('short', { program: 'p' }))).toEqual(['short@B']);
    expect(desk.program('p').home).toBe('A');
  });

  it('comes after what the other engine has of its own to run', () => {
    const desk = homeDesk('program-affinity');
    desk.arrive('b1', { prompt: 60 });
    desk.arrive('long', { program: 'p', prompt: 5_000 });
    desk.pass(2_000);
    desk.arrive('b2', { prompt: 60 });
    expect(sentOut(desk.finish('b1'))).toEqual(['b2@B']);
    expect(sentOut(desk.finish('b2'))).toEqual(['long@B']);
  });

  it('keeps the place of a call whose program has found a home while it waited', () => {
    const desk = new Desk({ balancer: { spillMs: 2_000 } }).with(['A', 'B'], { window: 1 });
    for (const call of ['a', 'b']) desk.arrive(call);
    for (const call of ['p1', 'p2']) desk.arrive(call, { program: 'p', prompt: 5_000 });
    expect(sentOut(desk.finish('a'))).toEqual(['p1@A']);
    desk.arrive('younger');
    desk.pass(2_000);
    expect(sentOut(desk.finish('b'))).toEqual(['p2@B']);
  });

  it('is behind one that would leave the home before it, where another gateway’s call goes before both', () => {
    const desk = new Desk({ balancer: { spillMs: 100 }, starvation: { beta: 1_000 } }).with('A', { window: 1 });
    use(desk, 'p', 60_000, 100, 1);
    desk.join('B', { window: 4 });
    desk.tell(shared('B', { inFlight: 1, waitingLevel: 0 }));
    for (const call of ['run', 'first', 'second']) desk.arrive(call, { program: 'p', prompt: 5_000 });
    desk.pass(200);
    const nearest = (call: string) => desk.scheduler.views.call(callId(call))?.waiting?.nearest;
    expect(nearest('second')).toMatchObject({ cause: 'turn', engine: 'B', behind: { call: 'first' } });
    expect(nearest('first')).toMatchObject({ cause: 'turn', engine: 'B' });
  });

  it('is not for a call that its client has sent to one engine, however long it waits', () => {
    const desk = new Desk({ balancer: { spillMs: 2_000 }, starvation: { waitMsMax: 5_000 } }).with('A', { window: 1 });
    desk.arrive('blocker');
    desk.join('B', { window: 1 });
    desk.tell({ ...arrived('pinned'), engine: engineId('A') });
    expect(desk.pass(60_000)).toEqual([]);
    expect(sentOut(desk.finish('blocker'))).toEqual(['pinned@A']);
  });

  it.each([
    ['waits on for an engine that has finished something meanwhile', true, []],
    ['leaves an engine that stands', false, ['long@B']],
  ])('an overdue call %s', (_, moves, sent) => {
    const desk = new Desk({ starvation: { waitMsMax: 5_000 } }).with('A', { window: 2 });
    desk.serve('past', { program: 'p', prompt: 5_000 });
    desk.join('B', { window: 1 });
    for (const call of ['x', 'y', 'ahead', 'long']) {
      desk.arrive(call, { program: 'p', prompt: 5_000 });
      if (call === 'ahead') desk.pass(1_000);
    }
    if (moves) expect(sentOut(desk.finish('x'))).toEqual(['ahead@A']);
    else desk.tell(cancelled('ahead'));
    desk.pass(4_999);
    expect(sentOut(desk.pass(1))).toEqual(sent);
  });

  it('is not for balancers that do not spill', () => {
    const desk = homeDesk('sticky');
    desk.arrive('long', { program: 'p', prompt: 5_000 });
    expect(desk.pass(600_000)).toEqual([]);
    expect(sentOut(desk.finish('blocker'))).toEqual(['long@A']);
  });
});

describe('the queue timeout', () => {
  it('ends a call that has waited as long, in all its attempts together', () => {
    const desk = new Desk({ timeouts: { queueMs: 1_000 } }).with('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('b');
    desk.pass(600);
    desk.finish('a');
    desk.pass(5_000); // Running is not waiting.
    desk.fail('b', 'busy', 10_000);
    expect(desk.pass(399)).toEqual([]);
    expect(desk.pass(1)).toEqual([{ type: 'reject', call: 'b', refusal: 'queue_timeout' }]);
  });
});
