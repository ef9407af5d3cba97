import assert from 'node:assert/strict';
import { it } from 'vitest';
import type { BookedCall } from '../support/core-book.js';
import { playMany } from '../support/core-play.js';

const CONTEXT_MAX = 800;
/** From here on a prompt is surely over-long: lengths are estimates. */
const SURELY = 1.25 * CONTEXT_MAX;
const AT_ONCE_MAX = 2;

const isOversized = ({ promptTokens }: BookedCall) => promptTokens > SURELY;

it('a prompt that no engine takes waits for no engine that is open, and has no room reserved', () => {
  const seen = { waited: 0, sent: 0 };
  playMany(() => {
    const limited = new Set<string>();
    return {
      contextMax: CONTEXT_MAX,
      // A row that is evicted with calls in flight leaves them a rest of their own: rows are not evicted here.
      adjust: (config) => ({
        ...config,
        policy: { ...config.policy, name: 'plas' },
        limits: { ...config.limits, programsMax: 100 },
      }),
      onMoment({ event, book, scheduler, nowMs }) {
        if (event?.type === 'engineJoined') {
          if (event.contextTokensMax === undefined) limited.delete(event.engine);
          else limited.add(event.engine);
        }
        for (const { id, reservedFor } of scheduler.views.engines()) {
          const holder = reservedFor && book.calls.get(reservedFor);
          const serving = holder ? book.serving(holder.model) : [];
          if (holder !== undefined && serving.every((each) => limited.has(each.id)))
            assert.ok(!isOversized(holder), `${id} keeps room for ${holder.id}`);
        }
        seen.sent += book.dispatches.filter(({ call }) => isOversized(call!)).length;
        // A change of settings takes no time, so pauses end in the next step; so do those of calls that an engine leaves.
        if (event === undefined || event.type === 'engineLost' || event.type === 'engineDrained') return;
        for (const call of book.waiting().filter(isOversized)) {
          const engines = book.serving(call.model);
          if (engines.length === 0 || !engines.every(({ id }) => limited.has(id))) continue;
          seen.waited += 1;
          for (const engine of engines) {
            const running = book.running(engine.id);
            const isOpen = book.mayTry(call, engine, nowMs);
            // Where no gate lets it in, a prompt counts as over-long from the limit itself on.
            const takes = engine.probation
              ? running.length === 0
              : running.filter(({ promptTokens }) => promptTokens > CONTEXT_MAX).length < AT_ONCE_MAX;
            assert.ok(!isOpen || !takes, `${call.id} waits while ${engine.id} may refuse it`);
          }
        }
      },
      onEnd({ scheduler }) {
        for (const { id, inFlight, workingSetTokens } of scheduler.views.engines())
          assert.deepEqual([inFlight, workingSetTokens], [0, 0], id);
      },
    };
  });
  assert.ok(seen.waited > 100 && seen.sent > 100, JSON.stringify(seen));
});
