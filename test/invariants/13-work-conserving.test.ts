import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../support/core-desk.js';
import { playMany } from '../support/core-play.js';
import { openEngines } from '../support/core-standing.js';

describe('no engine with room idles while a call that may use it waits', () => {
  it('in random sequences without a gate', () => {
    let open = 0;
    playMany({
      // A row that is evicted with calls in flight leaves them a rest of their own: rows are not evicted here.
      adjust: (config) => ({
        ...config,
        admission: { ...config.admission, gate: 0 },
        limits: { ...config.limits, programsMax: 100 },
      }),
      onMoment(moment) {
        // A change of settings takes no time, so pauses end in the next step.
        if (moment.event === undefined) return;
        for (const { engine, left } of openEngines(moment)) {
          open += 1;
          assert.equal(left, undefined, `${left} waits while ${engine} has room`);
        }
      },
    });
    assert.ok(open > 250, `only ${open} open engines`);
  });

  it('in random sequences with a gate: a call whose whole need fits', () => {
    let open = 0;
    playMany(() => {
      // A call keeps the reserve of the settings at its arrival.
      let outputReserveTokens = 0;
      return {
        // Forecasts would have a call count more than it asks for.
        adjust: (config) => ({
          ...config,
          admission: { ...config.admission, forecast: 'none', batching: 'none' },
          limits: { ...config.limits, programsMax: 100 },
        }),
        onMoment(moment) {
          const { admission } = moment.config;
          outputReserveTokens = Math.max(outputReserveTokens, admission.outputReserveTokens);
          if (moment.event === undefined) return;
          for (const { engine, left } of openEngines(moment, { ...admission, outputReserveTokens })) {
            open += 1;
            assert.equal(left, undefined, `${left} waits while ${engine} has room`);
          }
        },
      };
    });
    assert.ok(open > 250, `only ${open} open engines`);
  });

  it('and calls that wait for a full engine do not hold up others, however many they are', () => {
    const desk = new Desk({ limits: { queuedMax: 5_000, queuedPerTenantMax: 5_000 } }).with('A', { window: 1 });
    desk.arrive('first', { program: 'p', prompt: 5_000 });
    desk.join('B', { window: 1 });
    for (let n = 0; n < 2_000; n += 1) expect(desk.arrive(`p${n}`, { program: 'p', prompt: 5_000 })).toEqual([]);
    expect(sentOut(desk.arrive('short'))).toEqual(['short@B']);
    expect(desk.arrive('next')).toEqual([]);
    expect(sentOut(desk.finish('short'))).toEqual(['next@B']);
  });
});
