import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../../support/core-desk.js';
import { started } from '../../support/core-events.js';

/** Of an engine that answers at once, and the rest that its refusals ask for. */
const ANSWER_MS = 10;
const REFUSAL_MS = 5;
const REST_MS = 500;
/** As `timeouts.busyMs`: then the client has its refusal, and calls anew as another program. */
const PATIENCE_MS = 60_000;

interface Caller {
  readonly tenant: string;
  /** Whether engines refuse its calls. */
  readonly isRefused: boolean;
  askedAtMs: number;
}

/**
 * Callers that ask one call after the other, each of a new program, on two engines. Returns the times of those of tenant
 * `b` from asking to answer, and the number of refusals.
 */
function play(refused: number, forMs: number) {
  const desk = new Desk({});
  for (const engine of ['A', 'B']) desk.join(engine);
  const agenda: { readonly atMs: number; readonly act: () => void }[] = [];
  const callers = new Map<string, Caller>();
  const times: number[] = [];
  let calls = 0;
  let refusals = 0;
  const at = (atMs: number, act: () => void): void => {
    const index = agenda.findIndex((each) => each.atMs > atMs);
    agenda.splice(index < 0 ? agenda.length : index, 0, { atMs, act });
  };
  let seen = 0;
  /** Has engines answer what was sent to them since the last look. */
  const work = (): void => {
    for (; seen < desk.log.length; seen += 1) {
      const command = desk.log[seen]!;
      if (command.type !== 'dispatch') continue;
      const caller = callers.get(command.call)!;
      if (!caller.isRefused) at(desk.nowMs + ANSWER_MS, () => end(command.call, caller));
      else at(desk.nowMs + REFUSAL_MS, () => refuse(command.call, caller));
    }
  };
  const askFor = (caller: Caller): void => {
    const id = `call ${calls++}`;
    callers.set(id, caller);
    caller.askedAtMs = desk.nowMs;
    desk.arrive(id, { program: caller.isRefused ? id : 'served', tenant: caller.tenant });
  };
  const refuse = (id: string, caller: Caller): void => {
    refusals += 1;
    if (desk.nowMs - caller.askedAtMs <= PATIENCE_MS) return void desk.fail(id, 'busy', REST_MS);
    desk.fail(id, 'refused');
    askFor(caller);
  };
  const end = (id: string, caller: Caller): void => {
    desk.finish(id);
    times.push(desk.nowMs - caller.askedAtMs);
    at(desk.nowMs + 100, () => askFor(caller));
  };
  for (let n = 0; n < refused; n += 1) askFor({ tenant: 'a', isRefused: true, askedAtMs: 0 });
  at(2000, () => askFor({ tenant: 'b', isRefused: false, askedAtMs: 0 }));
  for (work(); desk.nowMs < forMs; work()) {
    const next = agenda[0];
    if (next === undefined || desk.wakeAtMs < next.atMs) desk.passTo(desk.wakeAtMs);
    else {
      agenda.shift();
      desk.passTo(next.atMs);
      next.act();
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { calls: times.length, p50: sorted[sorted.length >> 1], max: sorted.at(-1), refusals };
}

/** An engine that runs calls of tenants `v` and `w`, and has refused one of `t` and one of `u`. */
function fullDesk(): Desk {
  const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } });
  desk.join('A');
  for (const [call, tenant] of ['t', 'u', 'v', 'w'].entries())
    desk.arrive(`${tenant}${call}`, { program: `${tenant}${call}`, tenant });
  desk.pass(10);
  for (const call of ['t0', 'u1']) desk.fail(call, 'busy', 100);
  return desk;
}

describe('calls that engines refuse', () => {
  it('of two tenants mean a full engine: its window shrinks, it rests, and one call of others tries it', () => {
    const desk = fullDesk();
    expect(desk.engine('A')).toMatchObject({ resting: true, inFlight: 2, window: 2 });
    for (const call of ['v2', 'w3']) desk.finish(call);
    desk.arrive('x', { program: 'x', tenant: 'x' });
    expect(sentOut(desk.pass(99))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['x@A']);
    desk.fail('x', 'busy', 100);
    // Nobody else is left: the first in order, after twice the rest.
    expect(sentOut(desk.pass(199))).toEqual([]);
    expect(sentOut(desk.pass(10))).toEqual(['t0@A']);
    expect(sentOut(desk.finish('t0'))).toEqual(['u1@A', 'x@A']);
  });

  it('of one program rest for that program alone, for as long as the engine asks, and shrink no window', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } });
    desk.join('A');
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

  it('wait no longer than the queue timeout', () => {
    const desk = new Desk({ timeouts: { queueMs: 5_000 }, starvation: { waitMsMax: 2_000 } });
    desk.join('A');
    desk.arrive('a');
    while (desk.nowMs < 6_000) {
      desk.fail('a', 'busy', 1_000);
      desk.pass(500);
    }
    expect(desk.refusalOf('a')).toBe('queue_timeout');
  });

  it.each([1, 2, 20, 200])('of %i callers do not stop another tenant', (refused) => {
    const all = play(refused, 120_000);
    expect(all.p50).toBeLessThan(100);
    expect(all.max).toBeLessThan(3000);
  });
});
