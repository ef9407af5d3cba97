import { expect, it } from 'vitest';
import { Desk, sentOut } from '../../support/core-desk.js';
import { cancelled } from '../../support/core-events.js';

/** Two engines of 1,000 tokens whose slots are taken, with calls that wait. */
function fullDesk(facts: { readonly contextMax?: number; readonly capacity?: number } = {}): Desk {
  const desk = new Desk();
  for (const engine of ['A', 'B']) desk.join(engine, { window: 1, capacity: 1_000, contextMax: 1_000, ...facts });
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
