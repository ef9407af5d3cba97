import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('every call ends exactly once', () => {
  playMany({
    onMoment({ book, commands }) {
      for (const command of commands)
        if (command.type === 'reject') assert.equal(book.calls.get(command.call)?.ends.length, 1, command.call);
      for (const { call, stateBefore } of book.dispatches)
        assert.notEqual(stateBefore, 'over', `${call?.id} is dispatched after its end`);
    },
    onEnd({ book, scheduler }) {
      for (const call of book.calls.values()) assert.equal(call.ends.length, 1, `${call.id}: ${call.ends.join(', ')}`);
      assert.equal([...scheduler.views.programs()].flatMap((each) => each.threads).length, 0);
    },
  });
});
