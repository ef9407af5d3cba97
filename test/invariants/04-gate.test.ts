import assert from 'node:assert/strict';
import { it } from 'vitest';
import type { BookedCall } from '../support/core-book.js';
import { playMany } from '../support/core-many.js';

/** What a call asks for. */
interface Ask {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Contexts in flight: parallel calls of a thread share the prompt of one; each has an output of its own. */
function inFlightTokens(calls: readonly BookedCall[], asks: ReadonlyMap<string, Ask>, sharedTokens: number): number {
  const prompts = new Map<string, number>();
  let outputTokens = 0;
  for (const call of calls) {
    const thread = `${call.program} ${call.thread}`;
    const ask = asks.get(call.id)!;
    prompts.set(thread, Math.max(prompts.get(thread) ?? 0, ask.promptTokens));
    outputTokens += ask.outputTokens;
  }
  return [...prompts.values()].reduce((sum, tokens) => sum + Math.max(0, tokens - sharedTokens), outputTokens);
}

it('a call is dispatched past the gate only into an empty engine', () => {
  let held = 0;
  playMany((seed) => {
    const asks = new Map<string, Ask>();
    /** The most of a prompt that an engine has said to have had cached: no contexts can be taken to share more. */
    let sharedTokens = 0;
    return {
      without: seed % 2 === 0 ? ['cached'] : [],
      onMoment({ event, book, scheduler, config }) {
        if (event?.type === 'callFinished') sharedTokens = Math.max(sharedTokens, event.usage?.cachedTokens ?? 0);
        if (event?.type === 'callArrived') {
          const outputTokens = Math.min(event.maxTokens ?? Infinity, config.admission.outputReserveTokens);
          asks.set(event.call, { promptTokens: event.promptTokens, outputTokens });
        }
        const { gate } = config.admission;
        if (gate === 0 || config.policy.name === 'fcfs') return;
        const last = new Map(book.dispatches.map((dispatch) => [dispatch.command.engine, dispatch]));
        for (const [id, { runningBefore }] of last) {
          const { capacityTokens } = book.engines.get(id)!;
          if (capacityTokens === undefined || runningBefore === 0) continue;
          held += 1;
          const tokens = inFlightTokens(book.running(id), asks, sharedTokens);
          assert.ok(tokens <= gate * capacityTokens, `contexts in flight on ${id}`);
          assert.ok(scheduler.views.engine(id)!.workingSetTokens <= gate * capacityTokens, `working set of ${id}`);
        }
      },
    };
  });
  assert.ok(held > 1_000, `only ${held} dispatches met a gate`);
});
