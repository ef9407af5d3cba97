import { describe, expect, it } from 'vitest';
import { tokens } from '../../src/index.js';
import { Desk, sentOut, use } from '../support/core-desk.js';
import { ended, shared, sized, started, woke } from '../support/core-events.js';

const TOKENS = { outputReserveTokens: 0, halfLifeMs: 16_000 };

/** One engine of 1,000 tokens, all of which the gate gives. */
function gatedDesk(admission = {}): Desk {
  return new Desk({ policy: { msPerPromptToken: 100 }, admission: { ...TOKENS, gate: 1, ...admission } }).with(
    'A',
    sized(8, 1_000),
  );
}

/** Leaves the context of a program that has come back often enough to be expected again. */
function leaveContext(desk: Desk, program: string, promptTokens: number): void {
  for (const n of [1, 2, 3])
    desk.serve(`${program}${n}`, { program, prompt: promptTokens }, { prompt: promptTokens, output: 0 });
}

describe('the gate', () => {
  it('sets output aside: what the client allows, but not more than the reserve', () => {
    const desk = gatedDesk({ outputReserveTokens: 300 });
    desk.arrive('a', { prompt: 400, max: 100 });
    expect(desk.engine('A').workingSetTokens).toBe(500);
    expect(desk.arrive('b', { prompt: 300, max: 5_000 })).toEqual([]);
    expect(sentOut(desk.arrive('c', { prompt: 200 }))).toEqual(['c@A']);
  });

  it('counts a thread once however many of its calls run, and threads apart', () => {
    const desk = new Desk({ admission: { ...TOKENS, gate: 1 } }, 'sticky').with('A', sized(8, 1_000));
    for (const call of ['a', 'b', 'c']) desk.arrive(call, { program: 'p', prompt: 600 });
    expect(desk.engine('A')).toMatchObject({ inFlight: 3, workingSetTokens: 600 });
    expect(desk.arrive('sub', { program: 'p', thread: 'sub', prompt: 600 })).toEqual([]);
  });

  it('is off with gate 0, and where the capacity is not known', () => {
    const off = gatedDesk({ gate: 0 });
    const unknown = new Desk({ admission: { ...TOKENS, gate: 1 } }).with('A', { window: 8 });
    for (const desk of [off, unknown]) {
      desk.arrive('a', { prompt: 900 });
      expect(sentOut(desk.arrive('b', { prompt: 900 }))).toEqual(['b@A']);
    }
  });
});

describe('the working set', () => {
  it('keeps room for a program that is expected back, and opens by itself when it stays away', () => {
    const desk = gatedDesk();
    leaveContext(desk, 'p', 700);
    desk.arrive('run', { prompt: 100 });
    expect(desk.arrive('new', { prompt: 800 })).toEqual([]);
    // Nothing but `wakeAt` moves the clock here.
    expect(sentOut(desk.pass(200_000))).toEqual(['new@A']);
    const waitedMs = desk.dispatchOf('new')!.queueMs;
    expect(waitedMs).toBeGreaterThan(1_000);
    expect(waitedMs).toBeLessThan(100_000);
  });

  it('fades alike whether or not its program is known to have ended, as the engine evicts older contexts first', () => {
    const waitMs = (isTold: boolean): number => {
      const desk = gatedDesk();
      leaveContext(desk, 'p', 700);
      desk.arrive('run', { prompt: 100 });
      desk.arrive('new', { prompt: 800 });
      if (isTold) desk.tell(ended('p'));
      desk.pass(200_000);
      return desk.dispatchOf('new')!.queueMs;
    };
    expect(waitMs(false)).toBeGreaterThan(1_000);
    expect(waitMs(true)).toBe(waitMs(false));
  });

  it('lasts longer where much runs, as one more call gains less of a step', () => {
    const claimed = [200, 2_000].map((running) => {
      const desk = new Desk({ policy: { msPerPromptToken: 1 }, admission: { ...TOKENS, gate: 1 } }).with(
        'A',
        sized(8, 4_000),
      );
      desk.arrive('long', { program: 'long', prompt: running });
      for (let call = 0; call < 20; call += 1) {
        desk.serve(`c${call}`, { program: 'p', prompt: 500 }, { prompt: 500, output: 0 });
        desk.pass(1_000);
      }
      desk.tell(woke);
      return Math.round(desk.engine('A').workingSetTokens) - running;
    });
    expect(claimed[0]).toBe(0);
    expect(claimed[1]).toBeGreaterThan(300);
  });

  it('lasts longer where the engine has proved to take long for a prompt', () => {
    const [quick, slow] = [200, 20_000].map((prefillMs) => {
      const desk = new Desk({ admission: { ...TOKENS, gate: 1 } }).with('A', { capacity: 100_000 });
      for (const call of ['1', '2']) {
        desk.arrive(call, { program: 'p', prompt: 2_000 });
        desk.pass(prefillMs);
        desk.tell(started(call));
        desk.finish(call, { prompt: 2_000, output: 0, cached: 0 });
      }
      desk.pass(40_000);
      desk.tell(woke);
      return desk.engine('A').workingSetTokens;
    });
    expect(slow).toBeGreaterThan(quick!);
  });

  it('gives way at once to a call that comes back to its own context', () => {
    const desk = new Desk({ policy: { msPerPromptToken: 100 }, admission: { ...TOKENS, gate: 1 } }, 'sticky').with(
      'A',
      sized(8, 1_000),
    );
    leaveContext(desk, 'p', 500);
    leaveContext(desk, 'q', 450);
    desk.arrive('run', { prompt: 50 });
    expect(desk.arrive('new', { prompt: 450 })).toEqual([]);
    expect(sentOut(desk.arrive('p4', { program: 'p', prompt: 520 }))).toEqual(['p4@A']);
  });

  it('keeps out no call that it is held for, where a short prompt may run anywhere', () => {
    const desk = new Desk({ policy: { msPerPromptToken: 100 }, admission: { ...TOKENS, gate: 0.02 } }).with(
      'A',
      sized(8, 100_000),
    );
    leaveContext(desk, 'p', 900);
    leaveContext(desk, 'q', 900);
    desk.arrive('run', { prompt: 150 });
    expect(sentOut(desk.arrive('p4', { program: 'p', prompt: 920 }))).toEqual(['p4@A']);
    expect(desk.arrive('new', { prompt: 920 })).toEqual([]);
  });

  it('gives way to a call that has waited for reserveMs', () => {
    const desk = gatedDesk({ reserveMs: 300 });
    leaveContext(desk, 'p', 700);
    desk.arrive('run', { prompt: 100 });
    desk.arrive('new', { prompt: 800 });
    expect(desk.pass(299)).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['new@A']);
  });
});

describe('calls that have waited for reserveMs', () => {
  it.each([
    [0, 'one each turnMs', 499],
    [2, 'with two other gateways whose calls wait, by turns: each third turnMs', 1_499],
  ])('take the place of idle programs, beside %i others %s', (waitingGateways, _, waitMs) => {
    const desk = gatedDesk({ reserveMs: 300, turnMs: 500 });
    desk.tell(shared('A', { waitingGateways }));
    leaveContext(desk, 'p', 450);
    leaveContext(desk, 'q', 450);
    desk.arrive('run', { prompt: 50 });
    for (const call of ['new1', 'new2']) expect(desk.arrive(call, { prompt: 400 })).toEqual([]);
    expect(sentOut(desk.pass(300))).toEqual(['new1@A']);
    expect(desk.pass(waitMs)).toEqual([]);
    // Waiting calls are looked at when contexts fade, each second.
    expect(sentOut(desk.pass(1_001))).toEqual(['new2@A']);
  });

  it('take no turn where there is room without that', () => {
    const desk = gatedDesk({ reserveMs: 300, turnMs: 500 });
    leaveContext(desk, 'p', 450);
    desk.join('A', sized(1, 1_000));
    desk.arrive('run', { prompt: 50 });
    desk.arrive('fits', { prompt: 400 });
    desk.arrive('displaces', { prompt: 450 });
    desk.pass(300);
    expect(sentOut(desk.join('A', sized(8, 1_000)))).toEqual(['fits@A', 'displaces@A']);
  });
});

describe('a reservation', () => {
  it.each(['A', 'B'])('of a call that may run anywhere is made where most room is: at %s', (roomy) => {
    const desk = new Desk({ admission: { ...TOKENS, gate: 1, reserveMs: 300 } }, 'least-loaded');
    const small = roomy === 'A' ? 'B' : 'A';
    for (const engine of ['A', 'B']) desk.join(engine, { window: 8, capacity: engine === roomy ? 1_000 : 950 });
    for (const call of ['1', '2']) desk.arrive(call, { prompt: 500 });
    desk.arrive('big', { prompt: 900 });
    desk.pass(300);
    expect([desk.engine(roomy).reservedFor, desk.engine(small).reservedFor]).toEqual(['big', undefined]);
  });

  it('is let go by an engine that rests', () => {
    const desk = gatedDesk({ reserveMs: 300 });
    for (const call of ['a', 'b']) desk.arrive(call, { prompt: 450 });
    desk.arrive('big', { prompt: 800 });
    desk.pass(300);
    expect(desk.engine('A').reservedFor).toBe('big');
    desk.fail('a', 'unreached', 500);
    expect(desk.engine('A').reservedFor).toBeUndefined();
  });

  it('keeps what comes free for a call that has waited for reserveMs', () => {
    const desk = gatedDesk({ reserveMs: 300 });
    desk.arrive('a', { prompt: 500 });
    desk.arrive('b', { prompt: 400 });
    desk.arrive('big', { prompt: 800 });
    expect(sentOut(desk.arrive('s1', { prompt: 100 }))).toEqual(['s1@A']);
    desk.pass(300);
    desk.finish('s1', { prompt: 1, output: 0 });
    expect(desk.arrive('s2', { prompt: 50 })).toEqual([]);
    expect(desk.engine('A').reservedFor).toBe('big');
    expect(desk.finish('b', { prompt: 1, output: 0 })).toEqual([]);
    expect(sentOut(desk.finish('a', { prompt: 1, output: 0 }))).toEqual(['big@A', 's2@A']);
    expect(desk.engine('A').reservedFor).toBeUndefined();
  });

  it('is not made for a call that has room, and is only left to a better one of another gateway', () => {
    const desk = new Desk({ admission: { ...TOKENS, gate: 1, reserveMs: 300 } }).with(['A', 'B'], sized(8, 1_000));
    use(desk, 'old', 60_000, 10, 1);
    for (const engine of ['A', 'B']) desk.tell(shared(engine, { inFlight: 1, waitingLevel: 0 }));
    desk.arrive('large', { program: 'old', prompt: 600 });
    desk.pass(300);
    expect(desk.engine('A').reservedFor).toBeUndefined();
    desk.tell(shared('A', { inFlight: 1, activeTokens: tokens(500) }));
    expect(sentOut(desk.arrive('small', { program: 'old', thread: 'sub' }))).toEqual(['small@A']);
  });

  it('keeps it for one that comes back to its own context as well', () => {
    const desk = gatedDesk({ reserveMs: 300 });
    leaveContext(desk, 'p', 200);
    desk.arrive('a', { prompt: 100 });
    desk.arrive('b', { prompt: 200 });
    expect(desk.arrive('big', { program: 'p', prompt: 900 })).toEqual([]);
    desk.pass(300);
    desk.finish('a', { prompt: 1, output: 0 });
    expect(desk.arrive('small', { prompt: 100 })).toEqual([]);
    expect(desk.engine('A').reservedFor).toBe('big');
    expect(sentOut(desk.finish('b', { prompt: 1, output: 0 }))).toEqual(['big@A', 'small@A']);
  });

  it('ends with its call', () => {
    const desk = gatedDesk({ reserveMs: 300 });
    desk.arrive('a', { prompt: 600 });
    desk.arrive('big', { prompt: 800 });
    desk.pass(300);
    expect(desk.arrive('small', { prompt: 100 })).toEqual([]);
    expect(sentOut(desk.tell({ type: 'callCancelled', call: 'big' as never }))).toEqual(['small@A']);
  });
});
