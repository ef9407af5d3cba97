import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('no counter is ever negative, and when all is over all are zero again', () => {
  let rejoined = 0;
  playMany({
    ghosts: true,
    steps: 100,
    onMoment({ scheduler }) {
      for (const { id, inFlight, pinned, workingSetTokens } of scheduler.views.engines())
        for (const count of [inFlight, pinned, workingSetTokens]) assert.ok(count >= 0 && Number.isFinite(count), id);
    },
    onEnd({ scheduler }) {
      const { waiting, byLevel, longestWaitMs } = scheduler.views.queue();
      assert.deepEqual([waiting, Math.max(...byLevel), longestWaitMs, scheduler.views.programCount], [0, 0, 0, 0]);
      assert.equal(scheduler.views.ghosts, 0);
      rejoined += scheduler.totals.rejoined;
      for (const { id, inFlight, pinned, workingSetTokens, reservedFor } of scheduler.views.engines())
        assert.deepEqual([inFlight, pinned, workingSetTokens, reservedFor], [0, 0, 0, undefined], id);
    },
  });
  assert.ok(rejoined > 7, `only ${rejoined} came back`);
});
