import assert from 'node:assert/strict';
import { it } from 'vitest';
import { views } from '../../src/index.js';
import { playMany } from '../support/core-many.js';

it('no counter is ever negative, and when all is over all are zero again', () => {
  playMany({
    onMoment({ scheduler }) {
      for (const { id, inFlight, pinned, workingSetTokens } of views.engines(scheduler))
        for (const count of [inFlight, pinned, workingSetTokens]) assert.ok(count >= 0 && Number.isFinite(count), id);
    },
    onEnd({ scheduler }) {
      const { waiting, byLevel, longestWaitMs } = views.queue(scheduler);
      assert.deepEqual([waiting, Math.max(...byLevel), longestWaitMs, views.programCount(scheduler)], [0, 0, 0, 0]);
      for (const { id, inFlight, pinned, workingSetTokens, reservedFor } of views.engines(scheduler))
        assert.deepEqual([inFlight, pinned, workingSetTokens, reservedFor], [0, 0, 0, undefined], id);
    },
  });
});
