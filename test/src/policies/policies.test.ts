import { describe, expect, it } from 'vitest';
import { programId } from '../../../src/index.js';
import { Desk, orderFrom, sentOut, use } from '../../support/core-desk.js';
import { ended, sized } from '../../support/core-events.js';

describe('plas with the learnt order', () => {
  const [LONG, SHORT] = [
    { id: 1, tokens: 50 },
    { id: 2, tokens: 50 },
  ];

  /** One slot; 200 programs of each family have ended, after 9 to 11 s and after 100 ms. */
  function taught(order: 'learnt' | 'attained', countPrompt = false): Desk {
    const desk = new Desk({ policy: { firstQuantumMs: 125, order, countPrompt } }).with('A', { window: 1 });
    for (let program = 0; program < 200; program += 1)
      for (const [family, serviceMs] of [
        [LONG, 9_000 + (program % 3) * 1_000],
        [SHORT, 100],
      ] as const) {
        const id = `${family.id}/${program}`;
        desk.serve(id, { program: id, family }, { prompt: 100, output: 10, serviceMs });
        desk.tell(ended(id));
      }
    desk.pass(64_000);
    return desk;
  }

  /** A program of the family that has had this service. */
  function begun(desk: Desk, program: string, family: typeof LONG, serviceMs: number): void {
    desk.serve(`${program}-0`, { program, family }, { prompt: 100, output: 10, serviceMs });
  }

  it.each([
    ['learnt', ['short', 'old', 'young', 'new']],
    ['attained', ['new', 'short', 'young', 'old']],
  ] as const)('%s: what is nearest to its end goes first, or what has had least', (order, expected) => {
    const desk = taught(order);
    begun(desk, 'young', LONG, 1_000);
    begun(desk, 'old', LONG, 8_500);
    desk.arrive('run');
    desk.arrive('new', { program: 'new', family: LONG });
    desk.arrive('old', { program: 'old', family: LONG });
    desk.arrive('young', { program: 'young', family: LONG });
    desk.arrive('short', { program: 'short', family: SHORT });
    expect(orderFrom(desk, 'run')).toEqual(expected);
  });

  it.each([
    [true, ['small', 'large']],
    [false, ['large', 'small']],
  ])('counts a first prompt to the rest of its program or not: %s', (countPrompt, expected) => {
    const desk = taught('learnt', countPrompt);
    desk.arrive('run');
    for (const [call, prompt] of [
      ['large', 9_000],
      ['small', 100],
    ] as const)
      desk.arrive(call, { prompt, family: LONG });
    expect(orderFrom(desk, 'run')).toEqual(expected);
  });

  it('tells the rest that it ranks by, once programs have ended, of strangers as of all', () => {
    for (const [order, used] of [
      ['learnt', true],
      ['attained', undefined],
    ] as const) {
      const desk = taught(order);
      begun(desk, 'young', LONG, 1_000);
      begun(desk, 'old', LONG, 8_500);
      begun(desk, 'stranger', { id: 99, tokens: 10 }, 1_000);
      const [young, old, stranger] = ['young', 'old', 'stranger'].map((id) =>
        desk.scheduler.views.forecast(programId(id)),
      );
      expect([young?.used, old?.used, stranger?.used]).toEqual([used, used, used]);
      if (used) expect(young!.remainingMs).toBeGreaterThan(old!.remainingMs);
    }
  });

  it('goes by attained service before any program has ended', () => {
    const desk = new Desk({ policy: { firstQuantumMs: 125, order: 'learnt' } }).with('A', { window: 1 });
    for (const [program, serviceMs] of [
      ['heavy', 5_000],
      ['light', 500],
    ] as const)
      begun(desk, program, LONG, serviceMs);
    desk.arrive('run');
    for (const program of ['heavy', 'light', 'new']) desk.arrive(program, { program, family: LONG });
    expect(orderFrom(desk, 'run')).toEqual(['new', 'light', 'heavy']);
  });
});

describe('plas with countPrompt', () => {
  /** Queues up to 100, 200, 400, 800 ms and so on; a prompt token counts 0.1 ms. */
  const COUNTED = { firstQuantumMs: 100, msPerPromptToken: 0.1 };
  const countingDesk = (countPrompt: boolean): Desk =>
    new Desk({ policy: { name: 'plas', ...COUNTED, countPrompt } }).with('A', { window: 1 });

  it.each([
    [true, ['short', 'middle', 'long']],
    [false, ['long', 'middle', 'short']],
  ])('%s: puts first calls in the order %j', (countPrompt, expected) => {
    const desk = countingDesk(countPrompt);
    desk.arrive('run');
    desk.arrive('long', { prompt: 8_000 });
    desk.arrive('middle', { prompt: 1_500 });
    desk.arrive('short', { prompt: 999 });
    expect(orderFrom(desk, 'run')).toEqual(expected);
    expect(desk.dispatchOf('long')?.level).toBe(countPrompt ? 4 : 0);
  });

  it('leaves newcomers in order of arrival until the learnt order has seen programs end', () => {
    const desk = new Desk({ policy: { name: 'plas', ...COUNTED, countPrompt: true, order: 'learnt' } }).with('A', {
      window: 1,
    });
    desk.arrive('run');
    desk.arrive('long', { prompt: 8_000 });
    desk.arrive('short', { prompt: 999 });
    expect(orderFrom(desk, 'run')).toEqual(['long', 'short']);
  });

  it('counts no prompt of a later call, which builds on a context', () => {
    const desk = countingDesk(true);
    use(desk, 'agent', 50, 7_000, 10);
    desk.arrive('run');
    desk.arrive('fresh', { prompt: 1_500 });
    desk.arrive('back', { program: 'agent', prompt: 8_000 });
    expect(orderFrom(desk, 'run')).toEqual(['back', 'fresh']);
  });

  it('charges the program only for the service that it had', () => {
    const desk = countingDesk(true);
    use(desk, 'p', 50, 8_000, 10);
    expect(desk.program('p').serviceMs).toBe(50);
  });

  it('counts only what is beyond the beginning that the family shares', () => {
    const desk = countingDesk(true);
    const family = { id: 1, tokens: 7_500 };
    for (const call of ['f1', 'f2', 'f3'])
      desk.serve(call, { prompt: 8_000, family }, { prompt: 8_000, cached: 7_500, output: 10 });
    desk.arrive('run');
    desk.arrive('alone', { prompt: 8_000 });
    desk.arrive('related', { prompt: 8_000, family });
    expect(orderFrom(desk, 'run')).toEqual(['related', 'alone']);
  });
});

describe('pass-through', () => {
  it('is a pass-through: neither window nor gate holds anything back', () => {
    const desk = new Desk({ policy: { name: 'pass-through' }, admission: { window: 1 } }).with('A', sized(1, 10));
    for (let n = 0; n < 20; n += 1) expect(sentOut(desk.arrive(`c${n}`, { prompt: 5_000 }))).toEqual([`c${n}@A`]);
    expect(desk.engine('A')).toMatchObject({ inFlight: 20, window: Infinity });
  });
});

describe('fcfs-window', () => {
  it('keeps order of arrival whatever programs have had, within the window', () => {
    // One slot, so that everything after the first call waits.
    const desk = new Desk({ policy: { name: 'fcfs-window' } }).with('A', { window: 1 });
    use(desk, 'heavy', 50_000, 100, 10);
    desk.arrive('run');
    desk.arrive('h', { program: 'heavy' });
    desk.arrive('n');
    expect(orderFrom(desk, 'run')).toEqual(['h', 'n']);
  });
});
