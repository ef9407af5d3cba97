import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../support/core-desk.js';
import { playMany } from '../support/core-many.js';
import { mayRetry } from '../support/core-book.js';
import { standings } from '../support/core-standing.js';

describe('no engine with room idles while a call that may use it waits', () => {
  it('in random sequences without a gate', () => {
    let open = 0;
    playMany({
      adjust: (config) => ({ ...config, admission: { ...config.admission, gate: 0 } }),
      onMoment({ event, book, scheduler, nowMs }) {
        // A change of settings passes no time: pauses end in the next step.
        if (event === undefined) return;
        const waiting = standings(book, scheduler);
        for (const engine of scheduler.views.engines()) {
          const booked = book.engines.get(engine.id)!;
          const limit = engine.probation ? 1 : engine.window;
          if (booked.state !== 'up' || nowMs < booked.restUntilMs || engine.inFlight >= limit) continue;
          open += 1;
          const left = waiting.find(
            ({ id, model, engine: boundTo = engine.id }) =>
              booked.models.includes(model) && boundTo === engine.id && mayRetry(book.calls.get(id)!, booked, nowMs),
          );
          assert.equal(left, undefined, `${left?.id} waits while ${engine.id} has room`);
        }
      },
    });
    assert.ok(open > 250, `only ${open} open engines`);
  });

  it('and calls that wait for a full engine do not hold up others, however many they are', () => {
    const desk = new Desk({ limits: { queuedMax: 5_000, queuedPerTenantMax: 5_000 } });
    desk.join('A', { window: 1 });
    desk.arrive('first', { program: 'p', prompt: 5_000 });
    desk.join('B', { window: 1 });
    for (let n = 0; n < 2_000; n += 1) expect(desk.arrive(`p${n}`, { program: 'p', prompt: 5_000 })).toEqual([]);
    expect(sentOut(desk.arrive('short'))).toEqual(['short@B']);
    expect(desk.arrive('next')).toEqual([]);
    expect(sentOut(desk.finish('short'))).toEqual(['next@B']);
  });
});
