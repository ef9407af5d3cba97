import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('tenants never share a program', () => {
  let rows = 0;
  playMany({
    onMoment({ book, scheduler }) {
      for (const { id, tenant, threads } of scheduler.views.programs()) {
        rows += 1;
        for (const { call } of threads) {
          assert.equal(book.calls.get(call)?.tenant, tenant, `${call} in ${id}`);
          assert.equal(book.calls.get(call)?.program, id, `${call} in ${id}`);
        }
      }
    },
  });
  assert.ok(rows > 2_500, `only ${rows} rows`);
});
