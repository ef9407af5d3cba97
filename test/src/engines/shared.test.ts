import { describe, expect, it, vi } from 'vitest';
import { Batch } from '../../../src/engines/batch.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { engineId, millis, programId, tokens, type Elsewhere, type EngineShared } from '../../../src/index.js';
import { CompletionIndex } from '../../../src/programs/completion-index.js';
import { coreConfig } from '../../support/core-config.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { arrived, joined, shared as sharedOf, sized, woke } from '../../support/core-events.js';

const LONG = 5_000;

const shared = (facts: Partial<EngineShared>) => sharedOf('A', facts);

const elsewhere = (facts: Partial<Elsewhere>): Elsewhere => ({
  serviceMs: millis(0),
  calls: 1,
  root: { calls: 0, firstPromptTokens: tokens(0), contextTokens: tokens(0) },
  ...facts,
});

describe('an engine that other gateways use too', () => {
  it('runs as many calls as this gateway has slots', () => {
    const desk = new Desk().with('A', { window: 8 });
    desk.tell(shared({ slots: 1 }));
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(desk.engine('A')).toMatchObject({ inFlight: 1, window: 1 });
    expect(sentOut(desk.tell(shared({ slots: 2 })))).toEqual(['b@A']);
    expect(sentOut(desk.tell(shared({})))).toEqual(['c@A']);
  });

  it.each(['activeTokens', 'claimTokens'] as const)('has no room for a new context where others have %s', (held) => {
    const desk = new Desk({ admission: { gate: 1, retention: 'half-life' } }).with('A', sized(8, 10_000));
    desk.tell(shared({ inFlight: 1, [held]: tokens(7_000) }));
    expect(desk.arrive('a', { prompt: LONG })).toEqual([]);
    expect(sentOut(desk.tell(shared({ inFlight: 1, [held]: tokens(2_000) })))).toEqual(['a@A']);
  });

  it('gives up its own share of the claims when others need room, and no more', () => {
    const desk = new Desk({ admission: { gate: 1, retention: 'half-life' } }).with('A', sized(8, 10_000));
    for (let i = 0; i < 50; i += 1) desk.serve(`c${i}`, { program: `p${i}`, prompt: 90 }, { prompt: 90, output: 10 });
    const claimed = () => desk.engine('A').workingSetTokens;
    desk.tell(shared({ claimTokens: tokens(5_000) }));
    expect(claimed()).toBe(5_000);
    // 8,000 are left for claims of 10,000, half of which are this gateway's.
    desk.tell(shared({ inFlight: 1, activeTokens: tokens(2_000), claimTokens: tokens(5_000) }));
    expect(claimed()).toBe(4_000);
    desk.tell(shared({ inFlight: 1, activeTokens: tokens(2_000), claimTokens: tokens(4_000) }));
    expect(claimed()).toBe(4_000);
  });

  it('lets an aged call displace idle contexts once a turn, and in turn with the calls of other gateways', () => {
    const engine = new EngineTable().join(joined('A', { capacity: 1_000 }), coreConfig().admission);
    engine.share(shared({ inFlight: 1, activeTokens: tokens(300), claimTokens: tokens(200), waitingGateways: 2 }), 0);
    const [whole, spare] = [700, 500];
    expect(engine.headroom(1, 0)).toEqual({ resident: whole, aged: whole, new: spare });
    engine.noteDisplacement(0, 100);
    expect([0, 299, 300].map((nowMs) => engine.headroom(1, nowMs).aged)).toEqual([spare, spare, whole]);
  });

  it('weighs the calls of all gateways at the knee', () => {
    const batch = new Batch();
    batch.add({ promptTokens: 100, restMs: 4, areaAtStart: 0 }, 0);
    batch.share(1_000, 0.5, 0);
    expect([batch.weight, batch.ownWeight]).toEqual([0.75, 0.25]);
    batch.share(0, 0, 0);
    expect(batch.weight).toBe(0.25);
  });

  it('is left to a better call that waits elsewhere, but not to an equal one', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.serve('first', { program: 'old' }, { afterMs: 60_000 });
    desk.arrive('runs');
    desk.arrive('old', { program: 'old' });
    const { level } = desk.program('old');
    expect(level).toBeGreaterThan(0);
    desk.tell(shared({ slots: 1, waitingLevel: level - 1 }));
    expect(desk.finish('runs')).toEqual([]);
    expect(sentOut(desk.tell(shared({ slots: 1, waitingLevel: level })))).toEqual(['old@A']);
  });
});

it('levels of different tenants do not compare across gateways', () => {
  const desk = new Desk({ policy: { tenants: 'weighted' } }).with('A', { window: 1 });
  desk.serve('first', { program: 'old' }, { afterMs: 60_000 });
  desk.tell(shared({ slots: 1, waitingGateways: 1, waitingLevel: 0 }));
  expect(sentOut(desk.arrive('old', { program: 'old' }))).toEqual(['old@A']);
});

describe('a program that other gateways have run', () => {
  it('has the larger of both services, and their home', () => {
    const desk = new Desk().with(['A', 'B'], { window: 8 });
    const told = elsewhere({ serviceMs: millis(90_000), calls: 7, home: engineId('B') });
    expect(sentOut(desk.tell({ ...arrived('a', { program: 'p', prompt: LONG }), elsewhere: told }))).toEqual(['a@B']);
    expect(desk.program('p')).toMatchObject({ serviceMs: 90_000, callsTotal: 8, home: 'B' });
    desk.tell({ ...arrived('b', { program: 'p' }), elsewhere: elsewhere({ serviceMs: millis(10) }) });
    expect(desk.program('p').serviceMs).toBe(90_000);
  });

  it('teaches the service that this gateway gave it, and no other', () => {
    const recorded = vi.spyOn(CompletionIndex.prototype, 'recordService');
    try {
      const desk = new Desk().with('A', { window: 8 });
      desk.tell({ ...arrived('a', { program: 'p' }), elsewhere: elsewhere({ serviceMs: millis(90_000) }) });
      desk.pass(100);
      desk.finish('a');
      // Service is learnt as late as a presumed end.
      desk.pass(64_000);
      desk.tell(woke);
      // Its agent type and all programs.
      const taught = recorded.mock.calls.filter(([fromMs, toMs]) => toMs > fromMs);
      expect(taught).toEqual(Array(2).fill([90_000, 90_100]));
    } finally {
      recorded.mockRestore();
    }
  });

  it('returns to its context, for which idle ones make way', () => {
    const desk = new Desk({ admission: { gate: 1, retention: 'half-life' } }).with('A', sized(8, 20_000));
    desk.arrive('other', { program: 'other', prompt: 17_000 });
    desk.arrive('runs', { program: 'runs', prompt: 100 });
    desk.finish('other', { prompt: 17_000, output: 10 });
    expect(desk.arrive('new', { program: 'new', prompt: LONG })).toEqual([]);
    const told = elsewhere({ home: engineId('A'), contextTokens: tokens(LONG) });
    expect(sentOut(desk.tell({ ...arrived('a', { program: 'p', prompt: LONG }), elsewhere: told }))).toContain('a@A');
  });

  const moved = { type: 'programMoved', program: programId('p') } as const;

  it('leaves the working set once it has moved on, and a waiting call takes the room at once', () => {
    const desk = new Desk({ admission: { gate: 1, retention: 'half-life' } }).with('A', sized(8, 10_000));
    desk.arrive('runs', { prompt: 100 });
    desk.serve('a', { program: 'p', prompt: LONG }, { prompt: LONG, output: 10 });
    const before = desk.engine('A').workingSetTokens;
    expect(desk.arrive('waits', { prompt: LONG })).toEqual([]);
    expect(sentOut(desk.tell(moved))).toEqual(['waits@A']);
    // With room for an answer of 100 tokens.
    expect(desk.engine('A').workingSetTokens).toBe(before - (LONG + 10) + LONG + 100);
  });

  const ANSWER = 1_000;
  const parallel = (thread: string) => {
    const desk = new Desk({ admission: { gate: 1, forecast: 'none', outputReserveTokens: ANSWER } }).with(
      'A',
      sized(8, 100_000),
    );
    for (const call of ['a', 'b']) desk.arrive(call, { program: 'p', thread, prompt: LONG });
    expect(desk.engine('A').workingSetTokens).toBe(LONG + 2 * ANSWER);
    return desk;
  };

  it('counts only the answers of calls that still run here, as others count the prompt that they share', () => {
    const desk = parallel('');
    desk.tell(moved);
    expect(desk.engine('A').workingSetTokens).toBe(2 * ANSWER);
    desk.finish('a', { prompt: LONG, output: 10 });
    expect(desk.engine('A').workingSetTokens).toBe(ANSWER);
  });

  it('counts the prompt here again once it is back, and no less for calls that waited', () => {
    const desk = parallel('');
    desk.tell(shared({ slots: 2 }));
    desk.arrive('waits', { program: 'p', prompt: LONG });
    desk.tell(moved);
    desk.tell({ ...arrived('back', { program: 'p', prompt: LONG }), elsewhere: elsewhere({}) });
    expect(desk.engine('A').workingSetTokens).toBe(LONG + 2 * ANSWER);
    expect(sentOut(desk.tell(shared({ slots: 4 })))).toEqual(['waits@A', 'back@A']);
    expect(desk.engine('A').workingSetTokens).toBe(LONG + 4 * ANSWER);
  });

  it('keeps counting the prompt of a sub-agent, whose calls follow each other', () => {
    const desk = parallel('sub');
    desk.tell(moved);
    expect(desk.engine('A').workingSetTokens).toBe(LONG + 2 * ANSWER);
  });
});
