import { expect, it } from 'vitest';
import { Desk } from '../../support/core-desk.js';
import type { CoreChanges } from '../../support/core-config.js';

/** One slot, a call finished each 100 ms for so long while `waiting` calls and more waited. */
function backlogged(changes: CoreChanges, waiting: number, finished = 70): Desk {
  const desk = new Desk(changes).with('A', { window: 1 });
  for (let call = 0; call <= finished + waiting; call += 1) desk.arrive(`c${call}`, { patient: true });
  for (let call = 0; call < finished; call += 1) {
    desk.pass(100);
    desk.finish(`c${call}`);
  }
  expect(desk.scheduler.views.waiting).toBe(waiting);
  return desk;
}

const refusal = (desk: Desk, call: string) =>
  desk.log.find((command) => command.type === 'reject' && command.call === call);

it('refuses a call at once whose wait will outlast its patience, and says for how long', () => {
  const desk = backlogged({ timeouts: { queueMs: 4_000 } }, 100);
  // 100 calls ahead, half of 100 ms each: 5 s.
  desk.arrive('hopeless');
  expect(refusal(desk, 'hopeless')).toEqual({
    type: 'reject',
    call: 'hopeless',
    refusal: 'overloaded',
    retryAfterMs: 1_000,
  });
  desk.configure({ timeouts: { queueMs: 3_000 } });
  desk.arrive('more so');
  expect(refusal(desk, 'more so')).toMatchObject({ retryAfterMs: 2_000 });
  desk.configure({ timeouts: { queueMs: 5_100 } });
  desk.arrive('in time');
  expect(refusal(desk, 'in time')).toBeUndefined();
});

it('refuses no call that a retry would save, that waits as long as it takes, or that had a place', () => {
  const desk = backlogged({ timeouts: { queueMs: 2_000, ghostMs: 1_000 }, limits: { clientRetries: 2 } }, 100);
  desk.arrive('asks again', { request: 'x' });
  desk.arrive('streams', { patient: true });
  for (const call of ['asks again', 'streams']) expect(refusal(desk, call), call).toBeUndefined();
  desk.arrive('asks once');
  expect(refusal(desk, 'asks once')).toMatchObject({ refusal: 'overloaded' });
  desk.configure({ timeouts: { queueMs: 1_500, ghostMs: 1_000 }, limits: { clientRetries: 2 } });
  desk.arrive('asks in vain', { request: 'y' });
  expect(refusal(desk, 'asks in vain')).toMatchObject({ refusal: 'overloaded' });
  desk.pass(2_000);
  expect(refusal(desk, 'asks again')).toMatchObject({ refusal: 'queue_timeout' });
  desk.arrive('back', { program: 'of-asks again', request: 'x' });
  expect(refusal(desk, 'back')).toBeUndefined();
});

it('refuses nothing before enough calls have ended, long after they did, or when the engines are others', () => {
  const short = { timeouts: { queueMs: 100 } };
  const young = backlogged(short, 100, 60);
  young.arrive('call');
  expect(refusal(young, 'call')).toBeUndefined();
  const old = backlogged(short, 100);
  old.pass(600_001);
  old.arrive('call');
  expect(refusal(old, 'call')).toBeUndefined();
  const grown = backlogged(short, 100);
  grown.join('B', { window: 1 });
  grown.arrive('call');
  expect(refusal(grown, 'call')).toBeUndefined();
});

it('refuses no over-long call: it waits for an engine that is open, and for no place in the queue', () => {
  const desk = backlogged({ timeouts: { queueMs: 100 } }, 100);
  desk.join('A', { window: 1, contextMax: 1_000 });
  for (let call = 0; call < 20; call += 1) desk.arrive(`huge ${call}`, { prompt: 5_000 });
  expect(refusal(desk, 'huge 19')).toBeUndefined();
});

it('counts only calls that stand before it and are no larger', () => {
  const desk = backlogged({ timeouts: { queueMs: 100 }, admission: { gate: 0.9 } }, 100);
  desk.arrive('small', { prompt: 10 });
  expect(refusal(desk, 'small')).toBeUndefined();
  desk.arrive('as large');
  expect(refusal(desk, 'as large')).toBeDefined();
});

it('tells a full queue’s callers when a place may be free', () => {
  const desk = backlogged({ limits: { queuedMax: 100 }, timeouts: { queueMs: 1e9 } }, 20);
  for (let call = 0; call <= 80; call += 1) desk.arrive(`more ${call}`);
  expect(refusal(desk, 'more 80')).toMatchObject({ refusal: 'queue_full', retryAfterMs: 100 });
});
