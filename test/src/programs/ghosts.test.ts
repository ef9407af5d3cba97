import { describe, expect, it } from 'vitest';
import { callId } from '../../../src/index.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { cancelled, ended, hungUp, sized } from '../../support/core-events.js';
import { Dice } from '../../support/dice.js';
import type { CoreChanges } from '../../support/core-config.js';

const GRACE = { timeouts: { ghostMs: 1_000 } };

/** One slot, taken. */
function busyDesk(changes: CoreChanges = GRACE): Desk {
  const desk = new Desk(changes).with('A', { window: 1 });
  desk.arrive('blocker');
  return desk;
}

const asked = (desk: Desk, call: string, request = 'x', program = 'p') => desk.arrive(call, { program, request });

describe('a call whose client hung up', () => {
  it('has no place in the queue for another model', () => {
    const desk = busyDesk().with('B', { window: 1, models: ['n'] });
    asked(desk, 'first try');
    desk.tell(hungUp('first try'));
    desk.arrive('other', { program: 'p', request: 'x', model: 'n' });
    expect(desk.scheduler.totals.rejoined).toBe(0);
  });

  it('has its place in the order, and its waiting, when the same request comes again', () => {
    const desk = busyDesk();
    asked(desk, 'first try');
    desk.pass(300);
    desk.arrive('later');
    desk.tell(hungUp('first try'));
    desk.pass(999);
    expect(desk.scheduler.views).toMatchObject({ waiting: 1, ghosts: 1 });
    asked(desk, 'second try');
    desk.pass(50);
    expect(desk.scheduler.views.ghosts).toBe(0);
    expect(sentOut(desk.finish('blocker'))).toEqual(['second try@A']);
    expect(desk.dispatchOf('second try')).toMatchObject({ queueMs: 350, inheritedMs: 300 });
    expect(sentOut(desk.finish('second try'))).toEqual(['later@A']);
    expect(desk.dispatchOf('later')).not.toHaveProperty('inheritedMs');
    expect(desk.scheduler.totals.rejoined).toBe(1);
  });

  it('is not dispatched while it is away', () => {
    const desk = busyDesk();
    asked(desk, 'gone');
    desk.tell(hungUp('gone'));
    expect(sentOut(desk.finish('blocker'))).toEqual([]);
  });

  it('keeps its promotion', () => {
    const desk = busyDesk({ ...GRACE, starvation: { waitMsMax: 400 } });
    asked(desk, 'first try');
    desk.pass(500);
    desk.tell(hungUp('first try'));
    desk.pass(100);
    asked(desk, 'second try');
    desk.finish('blocker');
    expect(desk.dispatchOf('second try')).toMatchObject({ level: 0, reason: 'promoted' });
    expect(desk.scheduler.totals.overdue).toBe(1);
  });

  it.each<[string, (desk: Desk) => void]>([
    ['another request', (desk) => asked(desk, 'back', 'y')],
    ['another program', (desk) => asked(desk, 'back', 'x', 'q')],
    ['another thread', (desk) => desk.arrive('back', { program: 'p', request: 'x', thread: 'sub' })],
    ['too late', (desk) => (desk.pass(1_000), asked(desk, 'back'))],
    ['after its program ended', (desk) => (desk.tell(ended('p')), asked(desk, 'back'))],
  ])('loses its place to %s', (_, comeBack) => {
    const desk = busyDesk();
    asked(desk, 'first try');
    desk.arrive('later');
    desk.tell(hungUp('first try'));
    comeBack(desk);
    expect(sentOut(desk.finish('blocker'))).toEqual(['later@A']);
  });

  it.each([
    ['it is gone for good', 1_000, cancelled('gone')],
    ['places are not kept', 0, hungUp('gone')],
  ] as const)('has none to lose when %s', (_, ghostMs, event) => {
    const desk = busyDesk({ timeouts: { ghostMs } });
    asked(desk, 'gone');
    desk.tell(event);
    expect(desk.scheduler.views.ghosts).toBe(0);
  });

  it('is known by its thread alone where the client says that it tries again', () => {
    const desk = busyDesk();
    asked(desk, 'first try');
    desk.arrive('later');
    desk.tell(hungUp('first try'));
    desk.arrive('back', { program: 'p', request: 'with a new timestamp', retry: true });
    expect(sentOut(desk.finish('blocker'))).toEqual(['back@A']);
  });

  it('of two is the first: its retry comes first too', () => {
    const desk = busyDesk();
    for (const call of ['first', 'second']) {
      desk.arrive(call, { program: 'p' });
      desk.arrive(`after ${call}`);
    }
    for (const call of ['first', 'second']) desk.tell(hungUp(call));
    desk.arrive('back', { program: 'p', retry: true });
    expect(sentOut(desk.finish('blocker'))).toEqual(['back@A']);
    expect(sentOut(desk.finish('back'))).toEqual(['after first@A']);
  });

  it('is one of at most 64 of its program: then the first is forgotten', () => {
    const desk = busyDesk();
    for (let call = 0; call < 65; call += 1) {
      asked(desk, `${call}`, `${call}`);
      desk.tell(hungUp(`${call}`));
    }
    expect(desk.scheduler.views.ghosts).toBe(64);
    desk.arrive('other');
    asked(desk, '0 again', '0');
    asked(desk, '1 again', '1');
    expect(sentOut(desk.finish('blocker'))).toEqual(['1 again@A']);
    expect(sentOut(desk.finish('1 again'))).toEqual(['other@A']);
  });

  it('keeps its age: room is reserved for it as soon as it is back', () => {
    const desk = new Desk({ ...GRACE, admission: { gate: 1, outputReserveTokens: 0, reserveMs: 300 } }).with(
      'A',
      sized(8, 1_000),
    );
    desk.arrive('run', { prompt: 500 });
    desk.arrive('big', { program: 'p', prompt: 800, request: 'x' });
    desk.pass(300);
    expect(desk.engine('A').reservedFor).toBe('big');
    desk.tell(hungUp('big'));
    expect(desk.engine('A').reservedFor).toBeUndefined();
    desk.arrive('back', { program: 'p', prompt: 800, request: 'x' });
    expect(desk.engine('A').reservedFor).toBe('back');
  });

  it('does not count its waiting before its program was promoted meanwhile', () => {
    const desk = busyDesk({ ...GRACE, starvation: { beta: 2, floorMs: 1_000 } });
    desk.arrive('served', { program: 'p' });
    desk.finish('blocker');
    desk.pass(1_000);
    desk.arrive('blocker 2');
    desk.finish('served');
    desk.arrive('sibling', { program: 'p', thread: 'sub' });
    desk.pass(500);
    asked(desk, 'gone');
    desk.pass(1_000);
    desk.tell(hungUp('gone'));
    // The sibling is promoted after twice its second of service.
    desk.pass(500);
    expect(desk.scheduler.totals.promotions).toBe(1);
    asked(desk, 'back');
    expect(desk.scheduler.views.call(callId('back'))?.waiting?.promoteAtMs).toBe(desk.nowMs + 2_000);
  });

  it('counts in no limit, and is one of at most queuedMax', () => {
    const desk = busyDesk({ ...GRACE, limits: { queuedMax: 2 } });
    for (const call of ['a', 'b', 'c']) {
      asked(desk, call, call);
      desk.tell(hungUp(call));
    }
    expect(desk.scheduler.views.ghosts).toBe(2);
    asked(desk, 'd');
    asked(desk, 'e');
    expect(desk.scheduler.views.waiting).toBe(2);
    // The queue is full: what comes back is refused, and still has its place.
    asked(desk, 'b again', 'b');
    expect([desk.refusalOf('b again'), desk.scheduler.views.ghosts]).toEqual(['queue_full', 2]);
    desk.tell(cancelled('d'));
    asked(desk, 'b at last', 'b');
    expect(sentOut(desk.finish('blocker'))).toEqual(['b at last@A']);
  });
});

it('a tenant that gives up many calls takes no other tenant’s place', () => {
  const desk = busyDesk({ ...GRACE, limits: { queuedMax: 4 } });
  const give = (call: string, tenant: string) => {
    desk.arrive(call, { program: `${tenant}:${call}`, tenant, request: call });
    desk.tell(hungUp(call));
  };
  give('mine', 'a');
  for (const call of ['1', '2', '3', '4', '5', '6']) give(call, 'b');
  give('late', 'c');
  expect(desk.scheduler.views.ghosts).toBe(4);
  desk.arrive('mine again', { program: 'a:mine', tenant: 'a', request: 'mine' });
  desk.arrive('late again', { program: 'c:late', tenant: 'c', request: 'late' });
  desk.arrive('1 again', { program: 'b:1', tenant: 'b', request: '1' });
  expect(desk.scheduler.totals.rejoined).toBe(2);
});

describe('the queue timeout', () => {
  it('counts from a call’s own arrival, and leaves its place to the next try', () => {
    const desk = busyDesk({ timeouts: { ghostMs: 1_000, queueMs: 600 } });
    asked(desk, 'first try');
    desk.pass(500);
    desk.arrive('later');
    desk.pass(100);
    expect(desk.refusalOf('first try')).toBe('queue_timeout');
    asked(desk, 'second try');
    desk.pass(499);
    expect(desk.refusalOf('second try')).toBeUndefined();
    expect(sentOut(desk.finish('blocker'))).toEqual(['second try@A']);
    expect(desk.dispatchOf('second try')).toMatchObject({ queueMs: 1_099, inheritedMs: 600 });
  });

  it('does not apply to a patient call', () => {
    const desk = busyDesk({ timeouts: { queueMs: 600 } });
    desk.arrive('streams', { patient: true });
    desk.pass(1_000_000);
    expect(sentOut(desk.finish('blocker'))).toEqual(['streams@A']);
    // From the first time that an engine sends it back.
    for (let attempt = 0; attempt < 6; attempt += 1) {
      desk.fail('streams', 'busy', 100);
      expect(desk.refusalOf('streams')).toBeUndefined();
      desk.pass(100);
    }
    desk.fail('streams', 'busy', 100);
    desk.pass(1);
    expect(desk.refusalOf('streams')).toBe('queue_timeout');
  });
});

it('whatever hangs up and comes back, the order is as if it had never left', () => {
  let returns = 0;
  for (let seed = 0; seed < 300; seed += 1) {
    const dice = new Dice(seed);
    const changes = { timeouts: { ghostMs: 1e6 }, policy: { firstQuantumMs: 50 } };
    const [stays, leaves] = [new Desk(changes), new Desk(changes)];
    const order: [string[], string[]] = [[], []];
    /** Which try of each waiting call is in the second queue; null while its client is away. */
    const tries = new Map<string, string | null>();
    const programs = new Map<string, string>();
    const engine: { runs?: string | undefined } = { runs: 'c0' };
    const arrive = (call: string, program: string) => {
      tries.set(call, call);
      programs.set(call, program);
      stays.arrive(call, { program, request: call });
      leaves.arrive(call, { program, request: call });
    };
    for (const desk of [stays, leaves]) desk.join('A', { window: 1 });
    arrive('c0', 'p0');
    for (let step = 1; step < 60; step += 1) {
      const waiting = [...tries.keys()].filter((call) => call !== engine.runs);
      const durationMs = dice.int(0, 40);
      for (const desk of [stays, leaves]) desk.pass(durationMs);
      const roll = dice.share();
      if (roll < 0.35) arrive(`c${step}`, `p${dice.int(0, 5)}`);
      else if (roll < 0.7 && waiting.length > 0) {
        const call = dice.pick(waiting);
        const current = tries.get(call) ?? null;
        if (current === null) comeBack(call, step);
        else {
          leaves.tell(hungUp(current));
          tries.set(call, null);
        }
      } else if (engine.runs !== undefined) {
        for (const call of waiting) if (tries.get(call) === null) comeBack(call, step);
        const next: string[] = [
          ...sentOut(stays.finish(engine.runs)),
          ...sentOut(leaves.finish(tries.get(engine.runs)!)),
        ];
        tries.delete(engine.runs);
        engine.runs = next[0]?.replace('@A', '');
        order[0].push(...next.slice(0, 1));
        order[1].push(...next.slice(1).map((sent) => sent.replace(/ .*@/, '@')));
      }
    }
    expect(order[1], `sequence ${seed}`).toEqual(order[0]);
    returns += leaves.scheduler.totals.rejoined;

    function comeBack(call: string, step: number): void {
      tries.set(call, `${call} try ${step}`);
      leaves.arrive(`${call} try ${step}`, { program: programs.get(call)!, request: call });
    }
  }
  expect(returns).toBeGreaterThan(1_000);
});

it('a program whose lease is over keeps no place', () => {
  const desk = busyDesk({ timeouts: { ghostMs: 1_000, leaseMs: 100 } });
  asked(desk, 'first try');
  desk.tell(hungUp('first try'));
  expect(desk.scheduler.views.ghosts).toBe(1);
  desk.pass(100);
  expect(desk.scheduler.views.ghosts).toBe(0);
});
