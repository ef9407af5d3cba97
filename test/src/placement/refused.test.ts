import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../../support/core-desk.js';
import { started } from '../../support/core-events.js';
import { refuseAndServe } from '../../support/refusing-engines.js';

/** An engine that runs calls of tenants `v` and `w`, and has refused one of `t` and one of `u`, all served before. */
function fullDesk(): Desk {
  const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } }).with('A');
  for (const [call, tenant] of ['t', 'u', 'v', 'w'].entries()) {
    const program = `${tenant}${call}`;
    desk.serve(`first ${program}`, { program, tenant });
    desk.arrive(program, { program, tenant });
  }
  desk.pass(10);
  for (const call of ['t0', 'u1']) desk.fail(call, 'busy', 100);
  return desk;
}

describe('calls that engines refuse', () => {
  it('of two tenants mean a full engine: its window shrinks, it rests, and one call of others tries it', () => {
    const desk = fullDesk();
    expect(desk.engine('A')).toMatchObject({ resting: true, inFlight: 2, window: 2 });
    for (const call of ['v2', 'w3']) desk.finish(call);
    desk.arrive('x', { program: 'v2', tenant: 'v' });
    expect(sentOut(desk.pass(99))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['x@A']);
    desk.fail('x', 'busy', 100);
    // Nobody else is left: the first in order, after twice the rest.
    expect(sentOut(desk.pass(199))).toEqual([]);
    expect(sentOut(desk.pass(10))).toEqual(['t0@A']);
    expect(sentOut(desk.finish('t0'))).toEqual(['u1@A', 'x@A']);
  });

  it('of one program rest for that program alone, for as long as the engine asks, and shrink no window', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } }).with('A');
    desk.arrive('other', { program: 'other', tenant: 'u' });
    for (const call of ['a', 'b']) desk.arrive(call, { program: 'p', tenant: 't' });
    for (const call of ['a', 'b']) desk.fail(call, 'busy', 3_000);
    expect(desk.engine('A')).toMatchObject({ resting: false, window: 8 });
    expect(desk.scheduler.views.queue().byCause.refused).toBe(2);
    expect(sentOut(desk.arrive('c', { program: 'q', tenant: 't' }))).toEqual(['c@A']);
    expect(sentOut(desk.pass(2_999))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
    expect(sentOut(desk.tell(started('a')))).toEqual(['b@A']);
  });

  it('are not taken from another engine by the one that refused them, while it rests for their program', () => {
    const desk = new Desk({ balancer: { spillMs: 100 } }).with(['A', 'B'], { window: 1 });
    for (const call of ['first', 'other']) desk.arrive(call);
    desk.fail('first', 'busy', 3_000);
    desk.arrive('next', { program: 'of-first' });
    expect(desk.engine('A').inFlight).toBe(0);
    expect(sentOut(desk.pass(2_999))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['next@A']);
  });

  it('wait no longer than the queue timeout', () => {
    const desk = new Desk({ timeouts: { queueMs: 5_000 }, starvation: { waitMsMax: 2_000 } }).with('A');
    desk.arrive('a');
    while (desk.nowMs < 6_000) {
      desk.fail('a', 'busy', 1_000);
      desk.pass(500);
    }
    expect(desk.refusalOf('a')).toBe('queue_timeout');
  });

  it('take turns if no engine has served their programs, the longest refused first, and all go once one is taken', () => {
    const desk = new Desk({ admission: { window: 8 } }).with('A');
    for (const call of ['a', 'b', 'c', 'd']) desk.arrive(call);
    for (const call of ['b', 'a', 'd', 'c']) desk.fail(call, 'busy', 100);
    expect(desk.engine('A').resting).toBe(false);
    expect(sentOut(desk.pass(99))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['b@A']);
    desk.fail('b', 'busy', 100);
    expect(sentOut(desk.pass(249))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
    expect(sentOut(desk.tell(started('a')))).toEqual(['b@A', 'c@A', 'd@A']);
  });

  it('pass their turn on where there is no slot for them', () => {
    const desk = new Desk({ admission: { window: 1 } }).with('A');
    for (const call of ['a', 'b']) {
      desk.arrive(call);
      desk.fail(call, 'busy', 100);
    }
    desk.arrive('long');
    desk.pass(400);
    expect(sentOut(desk.finish('long'))).toEqual(['b@A']);
  });

  it('shrink no window while the engine serves programs that it has served before', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } }).with('A');
    for (const call of ['s1', 's2']) desk.serve(call, { program: 's' });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    for (const call of ['a', 'b', 'c']) desk.fail(call, 'busy', 100);
    expect(desk.engine('A').window).toBe(8);
  });

  const BYSTANDERS = [1, 2, 20, 200].flatMap((refused) =>
    ['b', 'a'].flatMap((tenant) => [false, true].map((isAnew) => ({ refused, tenant, isAnew }))),
  );

  it.each(BYSTANDERS)(
    'of $refused callers of tenant a do not stop one of tenant $tenant (programs anew: $isAnew)',
    (at) => {
      const { answers } = refuseAndServe({
        callers: [
          { count: at.refused, tenant: 'a', isAnew: true, isRefused: true, thinkMs: 0 },
          { count: 1, tenant: at.tenant, isAnew: at.isAnew, thinkMs: 100, fromMs: 2_000 },
        ],
        answerMs: 10,
        forMs: 120_000,
      });
      const times = answers.map(({ ms }) => ms);
      expect(times[0]).toBeLessThan(100);
      expect(times.toSorted((a, b) => a - b)[times.length >> 1]).toBeLessThan(20);
      expect(Math.max(...times)).toBeLessThan(1_000);
      expect(times.length).toBeGreaterThan(1_000);
    },
  );

  it.each([
    { name: 'of programs that call again', thinkMs: 500, refusalsMax: 1 },
    { name: 'of programs with one call each', thinkMs: 500, isAnew: true, refusalsMax: 1 },
    { name: 'that no engine has served, at once', thinkMs: Infinity, apartMs: 0, refusalsMax: 1 },
    { name: 'while the engine loads', thinkMs: Infinity, loadMs: 30_000, refusalsMax: 7 },
  ])('of a full engine come back a few times a second: 200 callers $name', ({ refusalsMax, loadMs = 0, ...like }) => {
    const { answers, refusals } = refuseAndServe({
      callers: [{ count: 200, tenant: 'a', apartMs: 20, ...like }],
      changes: { admission: { window: 'adaptive', windowInitial: 16, windowMin: 2, windowMax: 64 } },
      capacity: 8,
      answerMs: 1_000,
      loadMs,
      forMs: 120_000,
    });
    const toMs = Math.max(loadMs, 60_000);
    const ofOne = refusals.filter(({ engine, atMs }) => engine === 'A' && atMs < toMs).length;
    expect(ofOne / (toMs / 1000)).toBeLessThan(refusalsMax);
    expect(answers.length).toBeGreaterThan(like.thinkMs === Infinity ? 199 : 1_400);
  });
});
