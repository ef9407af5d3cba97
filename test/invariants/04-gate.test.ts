import assert from 'node:assert/strict';
import { it } from 'vitest';
import { views } from '../../src/index.js';
import type { BookedCall } from '../support/core-book.js';
import { playMany } from '../support/core-many.js';

it('a call is dispatched past the gate only into an empty engine', () => {
  let held = 0;
  playMany(() => {
    const need = new Map<string, number>();
    /** Contexts in flight: parallel calls of a thread share theirs. */
    const inFlightTokens = (calls: readonly BookedCall[]): number => {
      const threads = new Map<string, number>();
      for (const call of calls) {
        const thread = `${call.program} ${call.thread}`;
        threads.set(thread, Math.max(threads.get(thread) ?? 0, need.get(call.id)!));
      }
      return [...threads.values()].reduce((sum, tokens) => sum + tokens, 0);
    };
    return {
      onMoment({ event, book, scheduler, config }) {
        if (event?.type === 'callArrived') {
          const output = Math.min(event.maxTokens ?? Infinity, config.admission.outputReserveTokens);
          need.set(event.call, event.promptTokens + output);
        }
        const { gate } = config.admission;
        if (gate === 0 || config.policy.name === 'fcfs') return;
        const last = new Map(book.dispatches.map((dispatch) => [dispatch.command.engine, dispatch]));
        for (const [id, { runningBefore }] of last) {
          const { capacityTokens } = book.engines.get(id)!;
          if (capacityTokens === undefined || runningBefore === 0) continue;
          held += 1;
          assert.ok(inFlightTokens(book.running(id)) <= gate * capacityTokens, `contexts in flight on ${id}`);
          assert.ok(views.engine(scheduler, id)!.workingSetTokens <= gate * capacityTokens, `working set of ${id}`);
        }
      },
    };
  });
  assert.ok(held > 1_000, `only ${held} dispatches met a gate`);
});
