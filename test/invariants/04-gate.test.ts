import assert from 'node:assert/strict';
import { it } from 'vitest';
import type { BookedCall } from '../support/core-book.js';
import { playMany } from '../support/core-play.js';

/** Tokens that a call requests, and its family. */
interface Ask {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly family: number | undefined;
}

/**
 * Tokens of the contexts in flight. Parallel calls of a thread share one prompt, and each has its own output. Contexts
 * of a family share at most the length of its beginning, and at most the part that an engine found in its cache. The
 * shared part counts once.
 */
function inFlightTokens(
  calls: readonly BookedCall[],
  asks: ReadonlyMap<string, Ask>,
  sharedTokens: ReadonlyMap<number, number>,
): number {
  const prompts = new Map<string, number>();
  const beginnings = new Map<number, number>();
  let outputTokens = 0;
  for (const call of calls) {
    const thread = `${call.program} ${call.thread}`;
    const { promptTokens, outputTokens: ownTokens, family } = asks.get(call.id)!;
    const shared = family === undefined ? 0 : Math.min(promptTokens, sharedTokens.get(family) ?? 0);
    if (family !== undefined) beginnings.set(family, Math.max(beginnings.get(family) ?? 0, shared));
    prompts.set(thread, Math.max(prompts.get(thread) ?? 0, promptTokens - shared));
    outputTokens += ownTokens;
  }
  return [...prompts.values(), ...beginnings.values()].reduce((sum, tokens) => sum + tokens, outputTokens);
}

it('a call is dispatched past the gate only into an empty engine', () => {
  let [held, hosts] = [0, 0];
  playMany((seed) => {
    const asks = new Map<string, Ask>();
    /** By family, the largest part of its beginning that an engine found in its cache. Contexts cannot share more. */
    const sharedTokens = new Map<number, number>();
    const lengths = new Map<number, number>();
    return {
      without: seed % 2 === 0 ? ['cached'] : [],
      onMoment({ event, book, scheduler, config }) {
        if (event?.type === 'callFinished') {
          const { family } = asks.get(event.call) ?? {};
          const foundTokens = Math.min(event.usage?.cachedTokens ?? 0, lengths.get(family ?? NaN) ?? 0);
          if (family !== undefined) sharedTokens.set(family, Math.max(sharedTokens.get(family) ?? 0, foundTokens));
        }
        if (event?.type === 'callArrived') {
          const outputTokens = Math.min(event.maxTokens ?? Infinity, config.admission.outputReserveTokens);
          const { promptTokens, family } = event;
          asks.set(event.call, { promptTokens, outputTokens, family: family?.id });
          if (family !== undefined) lengths.set(family.id, family.tokens);
        }
        const { gate } = config.admission;
        if (gate === 0 || config.policy.name === 'pass-through') return;
        const last = new Map(book.dispatches.map((dispatch) => [dispatch.command.engine, dispatch]));
        for (const [id, { runningBefore }] of last) {
          const { capacityTokens } = book.engines.get(id)!;
          if (capacityTokens === undefined || runningBefore === 0) continue;
          held += 1;
          const tokens = inFlightTokens(book.running(id), asks, sharedTokens);
          assert.ok(tokens <= gate * capacityTokens, `contexts in flight on ${id}`);
          const { workingSetTokens, onHostTokens, hostTokens } = scheduler.views.engine(id)!;
          assert.ok(onHostTokens <= (hostTokens > capacityTokens ? hostTokens : 0), `contexts on the host of ${id}`);
          // A host takes what rests, and what returns may grow at its expense.
          if (hostTokens > capacityTokens) hosts += 1;
          else assert.ok(workingSetTokens <= gate * capacityTokens, `working set of ${id}`);
        }
      },
    };
  });
  assert.ok(held > 50, `only ${held} dispatches met a gate`);
  assert.ok(hosts > 20, `only ${hosts} dispatches met a host`);
});
