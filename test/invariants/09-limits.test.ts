import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('the table and the queue stay within their limits', () => {
  let refused = 0;
  let evicted = 0;
  playMany({
    without: ['configure'],
    onMoment({ event, commands, book, scheduler, config }) {
      const { programsMax, queuedMax, queuedPerTenantMax } = config.limits;
      assert.ok(scheduler.views.programCount <= programsMax, 'programs');
      for (const command of commands) {
        if (command.type === 'reject' && command.refusal === 'queue_full') refused += 1;
        if (command.type === 'programGone' && command.cause === 'evicted') evicted += 1;
      }
      // A call that an engine sent back keeps its place; a new call gets one only within the limits.
      if (event?.type !== 'callArrived' || book.calls.get(event.call)?.state !== 'waiting') return;
      const waiting = book.waiting();
      assert.ok(waiting.length <= queuedMax, 'queue');
      assert.ok(
        waiting.filter((call) => call.tenant === event.tenant).length <= queuedPerTenantMax,
        'share of the tenant',
      );
    },
  });
  assert.ok(refused > 25 && evicted > 25, `only ${refused} refusals and ${evicted} evictions`);
});

it('a call is refused only when a limit is reached', () => {
  playMany({
    without: ['configure'],
    onMoment({ event, commands, book, config }) {
      const full = commands.find((command) => command.type === 'reject' && command.refusal === 'queue_full');
      if (full === undefined || event?.type !== 'callArrived') return;
      const waiting = book.waiting();
      const ofTenant = waiting.filter((call) => call.tenant === event.tenant).length;
      const { queuedMax, queuedPerTenantMax } = config.limits;
      assert.ok(waiting.length >= queuedMax || ofTenant >= queuedPerTenantMax, `${waiting.length}, ${ofTenant}`);
    },
  });
});
