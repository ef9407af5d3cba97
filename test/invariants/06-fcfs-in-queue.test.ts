import assert from 'node:assert/strict';
import { it } from 'vitest';
import { POLICIES, playMany } from '../support/core-play.js';
import { standings } from '../support/core-standing.js';

it('where no gate interferes, the first call in order of queue and arrival that may use the engine goes first', () => {
  let passed = 0;
  playMany((seed) => {
    let before = new Map<string, string | undefined>();
    return {
      policy: POLICIES[seed % POLICIES.length]!,
      // A row that is evicted with calls in flight leaves them a rest of their own: rows are not evicted here.
      adjust: (config) => ({
        ...config,
        admission: { ...config.admission, gate: 0, batching: 'none' },
        limits: { ...config.limits, programsMax: 100 },
      }),
      onMoment({ book, scheduler, event, nowMs, config }) {
        const waiting = standings(book, scheduler);
        for (const { command, call } of book.dispatches.toReversed()) {
          for (const other of waiting) {
            if (other.model !== call!.model || (other.engine ?? command.engine) !== command.engine) continue;
            // Tenants have turns of their own: the order is that of one tenant's calls.
            if (config.policy.tenants !== 'none' && book.calls.get(other.id)!.tenant !== call!.tenant) continue;
            // Calls like those that the engine refused give way.
            if (!book.mayTry(book.calls.get(other.id)!, book.engines.get(command.engine)!, nowMs)) continue;
            const ahead = other.level < command.level || (other.level === command.level && other.seq < call!.seq);
            assert.ok(
              !ahead,
              `${other.id} (queue ${other.level}) was passed over by ${call!.id} (queue ${command.level})`,
            );
            passed += 1;
          }
          // Before its dispatch the call waited, so earlier dispatches must not have passed it over. A call that leaves
          // the engine that it waited for comes after calls without that bond. If a program's row was evicted, its
          // call's place is unknown.
          const isNew = event?.type === 'callArrived' && event.call === call!.id;
          const boundTo = before.get(call!.id);
          if ((isNew || before.has(call!.id)) && (boundTo === undefined || boundTo === command.engine))
            waiting.push({
              id: call!.id,
              seq: call!.seq,
              model: call!.model,
              level: command.level,
              engine: command.engine,
            });
        }
        before = new Map(standings(book, scheduler).map(({ id, engine }) => [id, engine]));
      },
    };
  });
  assert.ok(passed > 150, `only ${passed} comparisons`);
});
