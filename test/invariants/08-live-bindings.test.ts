import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';
import { standings } from '../support/core-standing.js';

it('a binding names a live engine, and a call waits only for a live engine that serves its model', () => {
  let bound = 0;
  playMany({
    onMoment({ book, scheduler }) {
      for (const { id, home } of scheduler.views.programs()) {
        if (home === undefined) continue;
        bound += 1;
        assert.equal(book.engines.get(home)?.state, 'up', `home of ${id}`);
      }
      for (const { id, engine, model } of standings(book, scheduler))
        if (engine !== undefined)
          assert.ok(
            book.serving(model).some((each) => each.id === engine),
            `${id} waits for ${engine}`,
          );
    },
  });
  assert.ok(bound > 250, `only ${bound} bindings`);
});
