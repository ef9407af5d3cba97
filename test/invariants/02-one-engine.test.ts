import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('no call runs on two engines at once, and both sides agree on where it runs', () => {
  playMany({
    onMoment({ book, scheduler }) {
      for (const { command, stateBefore } of book.dispatches) assert.equal(stateBefore, 'waiting', command.call);
      for (const engine of scheduler.views.engines())
        assert.equal(engine.inFlight, book.running(engine.id).length, `in flight on ${engine.id}`);
      assert.equal(scheduler.views.queue().waiting, book.waiting().length);
    },
  });
});
