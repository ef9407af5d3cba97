import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../../support/core-desk.js';
import { cancelled, drained, lost } from '../../support/core-events.js';

/** Two engines of 1,000 tokens whose slots are taken, with calls that wait. */
function fullDesk(facts: { readonly contextMax?: number; readonly capacity?: number } = {}): Desk {
  const desk = new Desk().with(['A', 'B'], { window: 1, capacity: 1_000, contextMax: 1_000, ...facts });
  for (const call of ['a', 'b', 'waits']) desk.arrive(call);
  return desk;
}

it('sends a prompt that no engine takes out at once, beside window and gate, and counts it nowhere', () => {
  const desk = fullDesk();
  const before = desk.engine('A').workingSetTokens;
  expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual(['huge@A']);
  expect(desk.dispatchOf('huge')).toMatchObject({ queueMs: 0, reason: 'direct' });
  expect(desk.engine('A')).toMatchObject({ inFlight: 2, workingSetTokens: before });
  expect(sentOut(desk.arrive('next', { prompt: 5_000 }))).toEqual(['next@B']);
  // The engine has refused it: nobody's room has changed.
  expect(sentOut(desk.tell(cancelled('huge')))).toEqual([]);
  expect(desk.engine('A')).toMatchObject({ inFlight: 1, workingSetTokens: before });
  expect(sentOut(desk.finish('a'))).toEqual(['waits@A']);
});

it.each([
  ['no engine says what it takes', { contextMax: undefined }, 5_000],
  ['one takes it', {}, 1_000],
  ['one might take it, whose gate lets it in', { capacity: 10_000 }, 1_200],
])('lets it wait like others where %s', (_, facts, prompt) => {
  const desk = new Desk();
  for (const engine of ['A', 'B']) {
    const { contextMax, ...rest } = { window: 1, capacity: 1_000, contextMax: 1_000, ...facts };
    desk.join(engine, { ...rest, ...(contextMax !== undefined && { contextMax }) });
  }
  for (const call of ['a', 'b']) desk.arrive(call);
  expect(sentOut(desk.arrive('long', { prompt }))).toEqual([]);
});

it('lets nobody make way for a prompt that may be too long and fits no gate', () => {
  expect(sentOut(fullDesk().arrive('perhaps', { prompt: 1_200 }))).toEqual(['perhaps@A']);
});

it('tries another engine when one breaks', () => {
  const desk = fullDesk();
  desk.arrive('huge', { prompt: 5_000 });
  expect(sentOut(desk.fail('huge', 'busy', 1_000))).toEqual(['huge@B']);
  expect(desk.engine('A').inFlight).toBe(1);
});

it('sends two at once to an engine, and the next as soon as one is refused', () => {
  const desk = fullDesk();
  const sent = ['h1', 'h2', 'h3', 'h4', 'h5'].map((call) => sentOut(desk.arrive(call, { prompt: 5_000 }))[0]);
  expect(sent).toEqual(['h1@A', 'h2@B', 'h3@A', 'h4@B', undefined]);
  expect([...desk.scheduler.views.waits()].find(([call]) => call === 'h5')?.[1]).toMatchObject({
    cause: 'window',
    needs: 1,
    free: 0,
    limit: 2,
    ahead: 0,
  });
  desk.pass(40);
  expect(sentOut(desk.fail('h1', 'refused'))).toEqual(['h5@A']);
  expect(desk.dispatchOf('h5')).toMatchObject({ queueMs: 40, reason: 'queued' });
});

describe('waits for an engine that opens, not for room', () => {
  /** An engine of ten small calls, at work without end. */
  function busyDesk(): Desk {
    const desk = new Desk({
      admission: { reserveMs: 1_000, outputReserveTokens: 0 },
      starvation: { waitMsMax: 5_000 },
    }).with('A', { window: 10, capacity: 1_000, contextMax: 1_000 });
    for (let call = 0; call < 9; call += 1) desk.arrive(`c${call}`);
    return desk;
  }

  it('after "no room" to others that were served, once the rest is over; the engine stays full', () => {
    const desk = busyDesk();
    for (const call of ['c7', 'c8']) desk.fail(call, 'refused');
    for (const tenant of ['u', 'v']) {
      desk.serve(tenant, { program: tenant, tenant, prompt: 10 }, { prompt: 10, output: 1 });
      desk.arrive(`${tenant}+`, { program: tenant, tenant, prompt: 20 });
    }
    for (const tenant of ['u', 'v']) desk.fail(`${tenant}+`, 'busy', 1_000);
    expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual([]);
    expect([...desk.scheduler.views.waits()].find(([call]) => call === 'huge')?.[1]).toMatchObject({
      cause: 'resting',
      untilMs: 1_000,
    });
    expect(sentOut(desk.pass(1_000))).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['huge@A']);
    expect(desk.dispatchOf('huge')).toMatchObject({ queueMs: 1_001, reason: 'queued' });
  });

  it('not after "no room" to a program that no engine has served', () => {
    const desk = busyDesk();
    desk.fail('c8', 'busy', 1_000);
    expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual(['huge@A']);
  });

  it('however long that takes: it reserves nothing, and others go on', () => {
    const desk = busyDesk();
    for (const call of ['h1', 'h2', 'h3']) desk.arrive(call, { prompt: 5_000 });
    for (let call = 0; call < 100; call += 1) {
      desk.pass(100);
      desk.arrive(`c${9 + call}`);
      desk.fail(`c${call}`, 'refused');
      expect(desk.engine('A')).toMatchObject({ inFlight: 10, reservedFor: undefined });
    }
    expect(sentOut(desk.fail('h1', 'refused'))).toEqual(['h3@A']);
  });

  it('once an engine that was away is back', () => {
    const desk = busyDesk();
    desk.tell(lost('A'));
    expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual([]);
    desk.pass(2_000);
    expect(sentOut(desk.join('A', { window: 10, capacity: 1_000, contextMax: 1_000 }))).toEqual(['huge@A']);
  });

  it('of an engine on probation, which it may prove', () => {
    const desk = new Desk().with('A', { window: 10, contextMax: 1_000, probation: true });
    desk.arrive('first');
    expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual([]);
    expect(sentOut(desk.fail('first', 'busy', 100))).toEqual(['huge@A']);
    expect(sentOut(desk.pass(100))).toEqual([]);
    expect(sentOut(desk.fail('huge', 'refused'))).toEqual(['first@A']);
    expect(desk.engine('A').probation).toBe(false);
  });

  it('and for all engines, once some that would have taken it are gone', () => {
    const desk = busyDesk().with('B', { window: 1, capacity: 9_000 });
    desk.arrive('b', { prompt: 900 });
    expect(sentOut(desk.arrive('huge', { prompt: 5_000 }))).toEqual([]);
    desk.pass(60_000);
    expect(sentOut(desk.tell(drained('B')))).toEqual(['huge@A']);
    expect(desk.dispatchOf('huge')).toMatchObject({ queueMs: 60_000 });
  });

  it('until one joins that takes it: then it waits for room there', () => {
    const desk = fullDesk();
    for (let call = 0; call < 5; call += 1) desk.arrive(`h${call}`, { prompt: 5_000 });
    expect(sentOut(desk.join('C', { window: 1, capacity: 9_000, contextMax: 9_000 }))).toEqual(['waits@C']);
    expect(sentOut(desk.finish('waits'))).toEqual(['h4@C']);
    expect(desk.engine('C').workingSetTokens).toBeGreaterThan(5_000);
  });
});

it('accounts the waiting of one that new settings make over-long', () => {
  const desk = new Desk().with('A', { window: 1, capacity: 10_000, contextMax: 1_000 });
  desk.arrive('a');
  expect(sentOut(desk.arrive('long', { prompt: 1_200 }))).toEqual([]);
  desk.pass(60_000);
  expect(sentOut(desk.configure({ admission: { gate: 0.1 } }))).toEqual(['long@A']);
  expect(desk.dispatchOf('long')).toMatchObject({ queueMs: 60_000, reason: 'queued' });
  expect(desk.program('of-long')).toMatchObject({ waitingMs: 60_000 });
});

it('takes nothing from the window when the engine says "no room" to it: it ran beside the window', () => {
  const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 8 } }).with('A', { contextMax: 1_000 });
  for (const call of ['a', 'b']) desk.arrive(call);
  desk.arrive('huge', { prompt: 5_000 });
  desk.fail('huge', 'busy', 100);
  expect(desk.engine('A').window).toBe(8);
  desk.pass(100);
  desk.fail('a', 'busy', 100);
  expect(desk.engine('A').window).toBeLessThan(8);
});

it('tells nothing of how fast the queue drains when it is answered after all', () => {
  const desk = new Desk({ timeouts: { queueMs: 1_000 } }).with('A', { window: 1, contextMax: 1_000 });
  for (let call = 0; call < 100; call += 1) desk.arrive(`c${call}`, { patient: true });
  for (let call = 0; call < 70; call += 1) desk.serve(`h${call}`, { prompt: 5_000 }, { afterMs: 100 });
  desk.arrive('next');
  expect(desk.refusalOf('next')).toBeUndefined();
});
