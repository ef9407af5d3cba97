import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { Desk, sentOut } from '../support/core-desk.js';
import type { BookedCall } from '../support/core-book.js';
import { lost } from '../support/core-events.js';
import { playMany } from '../support/core-play.js';
import { standings } from '../support/core-standing.js';

const sameTurn = (a: BookedCall, b: BookedCall) => a.tenant === b.tenant && a.model === b.model;

describe('room that is kept for a call goes to nothing behind it', () => {
  it('in random sequences', () => {
    let kept = 0;
    playMany(() => {
      let reserved = new Map<string, { id: string; level: number; seq: number }>();
      return {
        policy: 'plas',
        without: ['configure', 'cached'],
        steps: 160,
        // Calls soon have room kept for them.
        adjust: (config) => ({ ...config, admission: { ...config.admission, gate: 0.5, reserveMs: 50 } }),
        onMoment({ book, scheduler, config }) {
          for (const { command, call } of book.dispatches) {
            const holder = reserved.get(command.engine);
            if (holder === undefined || scheduler.views.engine(command.engine)?.reservedFor !== holder.id) continue;
            kept += 1;
            if (config.policy.tenants !== 'none' && !sameTurn(book.calls.get(holder.id)!, call!)) continue;
            // A promotion since then can only have moved it forward.
            const ahead = command.level < holder.level || (command.level === holder.level && call!.seq < holder.seq);
            assert.ok(ahead, `${call!.id} took the room kept for ${holder.id}`);
          }
          const waiting = new Map(standings(book, scheduler).map((each) => [each.id, each]));
          reserved = new Map();
          for (const { id, reservedFor } of scheduler.views.engines()) {
            const holder = reservedFor && waiting.get(reservedFor);
            if (holder !== undefined) reserved.set(id, holder);
          }
        },
      };
    });
    assert.ok(kept > 10, `only ${kept} dispatches met a reservation`);
  });

  /** A and B both run calls with half of their gates' room; `big` fits neither. */
  function heldDesk(): Desk {
    const desk = new Desk(
      { admission: { gate: 1, reserveMs: 1_000, turnMs: 0, outputReserveTokens: 0 } },
      'least-loaded',
    )
      .with('A', { window: 8, capacity: 1_000 })
      .with('B', { window: 8, capacity: 1_000 });
    for (const call of ['a1', 'b1']) desk.arrive(call, { prompt: 500 });
    desk.arrive('big', { prompt: 900 });
    desk.pass(1_000);
    return desk;
  }

  it('on one engine only, so that the other goes on', () => {
    const desk = heldDesk();
    expect(sentOut(desk.arrive('small1', { prompt: 400 }))).toHaveLength(1);
    expect(sentOut(desk.arrive('small2', { prompt: 400 }))).toHaveLength(0);
    const holder = ['A', 'B'].find((id) => desk.engine(id).reservedFor === 'big')!;
    expect(sentOut(desk.finish(holder === 'A' ? 'a1' : 'b1'))).toContain(`big@${holder}`);
  });

  it.each(['lost', 'resting', 'without its model'])('and anew when that engine is %s', (how) => {
    const desk = heldDesk();
    desk.arrive('small', { prompt: 600 });
    const holder = ['A', 'B'].find((id) => desk.engine(id).reservedFor === 'big')!;
    const [held, other] = holder === 'A' ? ['a1', 'B'] : ['b1', 'A'];
    if (how === 'lost') desk.tell(lost(holder));
    else if (how === 'resting') desk.fail(held, 'unreached', 1e6);
    else desk.join(holder, { window: 8, capacity: 1_000, models: ['other'] });
    desk.arrive('later', { prompt: 200 });
    expect([desk.engine(holder).reservedFor, desk.engine(other).reservedFor]).toEqual([undefined, 'big']);
  });
});
