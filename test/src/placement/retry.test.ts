import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../../support/core-desk.js';
import { engineId } from '../../../src/index.js';
import { arrived, joined, lost, started } from '../../support/core-events.js';

describe('failures of engines', () => {
  it('a broken call goes back to its only engine, and is refused when engines have failed it too often', () => {
    const desk = new Desk({ limits: { attemptsMax: 3 } }).with('A', { window: 1 });
    desk.arrive('a');
    for (let attempt = 1; attempt < 3; attempt += 1) expect(sentOut(desk.fail('a', 'broken'))).toEqual(['a@A']);
    expect(desk.fail('a', 'broken')).toEqual([{ type: 'reject', call: 'a', refusal: 'attempts_exhausted' }]);
    expect(desk.engine('A').inFlight).toBe(0);
  });

  it('a broken call is over when as many engines as may have failed it, though more attempts are left', () => {
    const desk = new Desk({ limits: { attemptsMax: 9, enginesFailedMax: 2 } }).with(['A', 'B', 'C']);
    desk.arrive('a');
    expect(sentOut(desk.fail('a', 'broken'))).toEqual(['a@B']);
    expect(desk.fail('a', 'broken')).toEqual([{ type: 'reject', call: 'a', refusal: 'attempts_exhausted' }]);
  });

  it('a full engine is no failure of the call, and can be reached: no number of refusals ends it, for however long', () => {
    const desk = new Desk({ limits: { attemptsMax: 1 }, timeouts: { noEngineMs: 250 } }).with('A', { window: 1 });
    desk.arrive('a');
    for (let n = 0; n < 20; n += 1) {
      expect(desk.fail('a', 'busy', 100)).toEqual([]);
      expect(sentOut(desk.pass(10_000))).toEqual(['a@A']);
    }
  });

  it('a broken call never goes back to an engine that failed it while another is left', () => {
    const desk = new Desk({ limits: { attemptsMax: 9, enginesFailedMax: 9 } }).with(['A', 'B', 'C']);
    desk.arrive('a');
    expect(sentOut(desk.fail('a', 'broken', 100))).toEqual(['a@B']);
    expect(sentOut(desk.fail('a', 'broken', 100))).toEqual(['a@C']);
    expect(desk.fail('a', 'broken', 100)).toEqual([]);
    expect(desk.pass(99)).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
  });

  it('a broken call that its driver sent to one engine may run on another, if the driver says so', () => {
    const desk = new Desk().with(['A', 'B']);
    const pinned = (call: string) => ({ ...arrived(call), engine: engineId('A') });
    desk.tell({ ...pinned('part'), mayMove: true });
    desk.tell(pinned('stored'));
    expect(sentOut(desk.fail('part', 'broken', 100))).toEqual(['part@B']);
    expect(sentOut(desk.fail('stored', 'broken', 100))).toEqual([]);
  });

  it('a paused call takes an engine that joins before its pause is over, but not one on probation', () => {
    const desk = new Desk().with('A');
    desk.arrive('a', { program: 'p' });
    expect(desk.fail('a', 'broken', 1_000)).toEqual([]);
    expect(desk.join('B', { probation: true })).toEqual([]);
    desk.arrive('b');
    expect(desk.dispatchOf('b')).toMatchObject({ engine: 'B' });
    expect(sentOut(desk.tell(started('b')))).toEqual(['a@B']);
  });

  it('a paused call whose only engine is lost waits for it beyond its pause', () => {
    const desk = new Desk().with('A');
    desk.arrive('a');
    desk.fail('a', 'broken', 100);
    desk.tell(lost('A'));
    expect(desk.pass(500)).toEqual([]);
    expect(desk.join('A', { probation: true })).toEqual([]);
    expect(sentOut(desk.join('A'))).toEqual(['a@A']);
  });

  it('an engine on probation is given the next call though another is idle', () => {
    const desk = new Desk().with('A').with('B', { probation: true });
    expect(sentOut(desk.arrive('a'))).toEqual(['a@B']);
    expect(sentOut(desk.arrive('b'))).toEqual(['b@A']);
    expect(desk.engine('B').probation).toBe(true);
    desk.tell(started('a'));
    expect(desk.engine('B').probation).toBe(false);
  });

  it('an engine that cannot be reached rests, keeps its window, and ends the call after noEngineMs', () => {
    const desk = new Desk({ timeouts: { noEngineMs: 250 }, admission: { window: 'adaptive', windowInitial: 4 } }).with(
      'A',
    );
    desk.arrive('a');
    for (let n = 0; n < 3; n += 1) {
      expect(desk.fail('a', 'unreached', 100)).toEqual([]);
      expect(desk.engine('A')).toMatchObject({ resting: true, window: 4 });
      expect(sentOut(desk.pass(100))).toEqual(['a@A']);
    }
    expect(desk.fail('a', 'unreached', 100)).toEqual([{ type: 'reject', call: 'a', refusal: 'no_engine' }]);
  });

  it('a call that waits for the only engine that has not failed it runs elsewhere once that one is on probation', () => {
    const desk = new Desk().with(['A', 'B']);
    desk.arrive('a');
    expect(sentOut(desk.fail('a', 'broken'))).toEqual(['a@B']);
    expect(desk.fail('a', 'busy', 1_000)).toEqual([]);
    expect(sentOut(desk.join('B', { probation: true }))).toEqual(['a@A']);
  });

  it.each([0, -5])('an engine that cannot be reached rests a millisecond at least: %d', (restMs) => {
    const desk = new Desk({ timeouts: { noEngineMs: 10 } }).with('A');
    desk.arrive('a');
    expect(desk.fail('a', 'unreached', restMs)).toEqual([]);
    expect(sentOut(desk.pass(0.9))).toEqual([]);
    expect(sentOut(desk.pass(0.1))).toEqual(['a@A']);
  });

  it('a call that an engine broke was reached: the time for which none could be begins anew', () => {
    const desk = new Desk({ timeouts: { noEngineMs: 250 }, limits: { attemptsMax: 9, enginesFailedMax: 9 } }).with('A');
    desk.arrive('a');
    desk.fail('a', 'unreached', 100);
    desk.pass(200);
    desk.fail('a', 'broken');
    desk.pass(100);
    expect(desk.fail('a', 'unreached', 100)).toEqual([]);
    desk.pass(240);
    expect(desk.fail('a', 'unreached', 100)).toEqual([]);
    desk.pass(100);
    expect(desk.fail('a', 'unreached', 100)).toEqual([{ type: 'reject', call: 'a', refusal: 'no_engine' }]);
  });

  it('calls that wait while no engine is up are refused after noEngineMs, each from when it found none', () => {
    const desk = new Desk({ timeouts: { noEngineMs: 100 } }).with('A', { window: 1 });
    desk.arrive('running');
    desk.arrive('early');
    desk.pass(1_000);
    desk.tell(lost('A'));
    desk.pass(60);
    desk.arrive('late');
    expect(desk.pass(40)).toEqual([{ type: 'reject', call: 'early', refusal: 'no_engine' }]);
    desk.pass(50);
    expect(sentOut(desk.join('A', { window: 2 }))).toEqual(['late@A']);
  });

  it('calls wait so too for an engine that has never been up', () => {
    const desk = new Desk({ timeouts: { noEngineMs: 100 } });
    desk.tell({ ...joined('expected'), down: true });
    desk.arrive('early');
    desk.pass(60);
    desk.arrive('late');
    expect(desk.pass(40)).toEqual([{ type: 'reject', call: 'early', refusal: 'no_engine' }]);
    expect(sentOut(desk.join('A'))).toEqual(['late@A']);
  });
});

it('an engine that refuses a request has shown that it works', () => {
  const desk = new Desk().with('A', { probation: true });
  desk.arrive('a');
  desk.fail('a', 'refused');
  expect(desk.engine('A').probation).toBe(false);
});

it('a call that its client has sent to one engine ends noEngineMs after its loss, though another is up', () => {
  const desk = new Desk({ timeouts: { noEngineMs: 250 } }).with(['A', 'B'], { window: 1 });
  desk.arrive('blocker');
  desk.tell({ ...arrived('pinned'), engine: engineId('A') });
  desk.tell(lost('A'));
  expect(desk.pass(249)).toEqual([]);
  expect(desk.pass(1)).toEqual([{ type: 'reject', call: 'pinned', refusal: 'no_engine' }]);
});
