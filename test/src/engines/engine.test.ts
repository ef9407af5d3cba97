import { describe, expect, it } from 'vitest';
import { modelId, type Millis } from '../../../src/index.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { coreConfig } from '../../support/core-config.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { drained, failed, joined, lost, reported, shared } from '../../support/core-events.js';

const LONG = 5_000;

describe('a lost engine', () => {
  it('gets nothing more; what waited for it goes elsewhere, in its place', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.serve('past', { program: 'p', prompt: LONG });
    desk.arrive('run', { program: 'p', prompt: LONG });
    desk.join('B', { window: 1 });
    desk.arrive('blocker');
    desk.arrive('bound', { program: 'p', prompt: LONG });
    desk.arrive('later');
    expect(desk.engine('A').pinned).toBe(1);
    expect(desk.tell(lost('A'))).toEqual([]);
    expect(sentOut(desk.finish('blocker'))).toEqual(['bound@B']);
    expect(desk.program('p').home).toBe('B');
    expect(desk.engine('A')).toMatchObject({ state: 'lost', pinned: 0, inFlight: 1 });
    desk.finish('run'); // Its running calls still end one by one.
    expect(desk.engine('A').inFlight).toBe(0);
  });

  it("that comes back is nobody's home", () => {
    const desk = new Desk().with('A');
    desk.serve('a', { program: 'p', prompt: LONG }, { prompt: LONG, output: 10 });
    expect(desk.program('p').home).toBe('A');
    desk.tell(lost('A'));
    expect(desk.program('p').home).toBeUndefined();
    desk.join('A', { capacity: 90_000 });
    expect(desk.program('p').home).toBeUndefined();
    expect(desk.engine('A').workingSetTokens).toBe(0);
  });
});

describe('a drained engine', () => {
  it('finishes what it runs, gets nothing more, and is forgotten with its last call', () => {
    const desk = new Desk().with('A', { window: 2 });
    desk.arrive('a');
    desk.arrive('b');
    desk.join('B', { window: 1 });
    desk.tell(drained('A'));
    expect(sentOut(desk.arrive('c'))).toEqual(['c@B']);
    desk.finish('a');
    expect(desk.engine('A').state).toBe('draining');
    desk.finish('b');
    expect(desk.scheduler.views.engines().map((engine) => engine.id)).toEqual(['B']);
  });

  it('without a call in flight is forgotten at once', () => {
    const desk = new Desk().with('A');
    desk.tell(drained('A'));
    expect(desk.engine('A')).toBeUndefined();
  });

  it('that is then lost does not stay in the table', () => {
    const desk = new Desk().with('A');
    desk.arrive('a');
    desk.tell(drained('A'));
    desk.tell(lost('A'));
    desk.fail('a', 'lost');
    expect(desk.scheduler.views.engines()).toEqual([]);
  });

  it('the last of its model: every call that waits for it is refused, once', () => {
    const desk = new Desk().with('A', { window: 1 });
    desk.arrive('past', { program: 'p', prompt: LONG });
    desk.arrive('bound', { program: 'p', prompt: LONG });
    desk.arrive('free');
    const refused = desk.tell(drained('A'));
    expect(
      refused.map((command) => (command.type === 'reject' ? `${command.call} ${command.refusal}` : command.type)),
    ).toEqual(['bound no_engine', 'free no_engine']);
    expect(desk.scheduler.views.queue().waiting).toBe(0);
    expect(desk.fail('past', 'broken')).toEqual([{ type: 'reject', call: 'past', refusal: 'no_engine' }]);
  });

  it('may come back before it is done', () => {
    const desk = new Desk().with('A', { window: 2 });
    desk.arrive('a');
    desk.tell(drained('A'));
    desk.join('A', { window: 2 });
    expect(sentOut(desk.arrive('b'))).toEqual(['b@A']);
    desk.finish('a');
    expect(desk.engine('A')).toMatchObject({ state: 'up', inFlight: 1 });
  });
});

describe('an engine on probation', () => {
  it('gets one call at a time until one has finished', () => {
    const desk = new Desk().with('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A']);
    expect(sentOut(desk.fail('a', 'lost'))).toEqual(['b@A']);
    expect(sentOut(desk.finish('b'))).toEqual(['c@A']);
    expect(sentOut(desk.arrive('d'))).toEqual(['d@A']);
    expect(desk.engine('A')).toMatchObject({ probation: false, window: 4 });
  });

  it('and none without a slot of those that gateways share', () => {
    const desk = new Desk().with('A', { window: 4, probation: true });
    desk.tell(shared('A', { slots: 0 }));
    expect(sentOut(desk.arrive('a'))).toEqual([]);
    expect(sentOut(desk.tell(shared('A', { slots: 2 })))).toEqual(['a@A']);
    expect(sentOut(desk.arrive('b'))).toEqual([]);
  });

  it('or until it has joined without that', () => {
    const desk = new Desk().with('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.join('A', { window: 4 }))).toEqual(['b@A', 'c@A']);
  });

  it('holds a pass-through policy to that as well', () => {
    const desk = new Desk({ policy: { name: 'pass-through' } }).with('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A']);
    expect(sentOut(desk.finish('a'))).toEqual(['b@A', 'c@A']);
  });
});

describe('models', () => {
  it('an engine that comes back without a model gives its calls to others, or refuses them', () => {
    const desk = new Desk().with('A', { models: ['m', 'n'], window: 1 });
    desk.arrive('run');
    desk.arrive('wants-n', { model: 'n' });
    desk.arrive('wants-m');
    expect(desk.join('A', { models: ['m'], window: 1 })).toEqual([
      { type: 'reject', call: 'wants-n', refusal: 'no_engine' },
    ]);
    expect(sentOut(desk.finish('run'))).toEqual(['wants-m@A']);
  });
});

describe('load reports', () => {
  it('move an adaptive window, and more goes out at once', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 2 } }).with('A');
    for (const call of ['a', 'b', 'c', 'd', 'e']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A', 'b@A']);
    expect(sentOut(desk.tell(reported('A', { waiting: 0 })))).toEqual(['c@A', 'd@A']);
    for (const waiting of [2, 2]) desk.tell(reported('A', { waiting }));
    expect(desk.engine('A').window).toBe(2);
    for (const call of ['a', 'b']) expect(desk.finish(call)).toEqual([]);
    expect(sentOut(desk.finish('c'))).toEqual(['e@A']);
  });

  it('move it while all that it lets in takes longer than the time between two of them', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 2 } }).with('A');
    for (const call of ['a', 'b', 'c', 'd', 'e']) desk.arrive(call);
    desk.tell(reported('A', { waiting: 1 }));
    expect(desk.engine('A').window).toBe(2);
    expect(sentOut(desk.tell(reported('A', { waiting: 0 })))).toEqual(['c@A', 'd@A']);
  });
});

describe('an engine that rests', () => {
  it('is waited for no longer once it was lost and has joined again', () => {
    const desk = new Desk().with('A');
    desk.arrive('a');
    desk.fail('a', 'unreached', 5_000);
    expect(desk.wakeAtMs).toBe(5_000);
    desk.tell(lost('A'));
    expect(sentOut(desk.join('A'))).toEqual(['a@A']);
    expect(desk.wakeAtMs).toBeGreaterThan(desk.nowMs);
  });

  it('still rests when it joins with another capacity', () => {
    const desk = new Desk().with('A', { capacity: 10_000 });
    desk.arrive('a');
    desk.fail('a', 'unreached', 5_000);
    expect(desk.join('A', { capacity: 10_001 })).toEqual([]);
    expect(desk.engine('A').resting).toBe(true);
    expect(desk.pass(4_999)).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
  });

  it.each([undefined, 0, NaN])('rests for a moment when it says %s: its call does not come back at once', (restMs) => {
    const desk = new Desk().with('A');
    desk.arrive('a');
    const busy = { ...failed('a', 'busy', 0), ...(restMs !== undefined && { restMs: restMs as Millis }) };
    expect(desk.tell(busy)).toEqual([]);
    expect(desk.wakeAtMs).toBe(1);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
  });
});

it('a model that no engine serves any more is forgotten', () => {
  const engineTable = new EngineTable();
  const models = ['x', 'y', 'z'].map(modelId);
  const engine = engineTable.join(joined('A'), coreConfig().admission);
  for (const model of models) engineTable.serve(engine, [model]);
  expect(engineTable.pool(models[0]!)).toBeUndefined();
  expect(engineTable.serves(models[2]!)).toBe(true);
});
