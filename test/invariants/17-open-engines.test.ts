import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('a call goes only to an engine that is up, serves its model and does not rest for its program', () => {
  let rested = 0;
  playMany({
    // A row that is evicted with calls in flight leaves them a rest of their own.
    adjust: (config) => ({ ...config, limits: { ...config.limits, programsMax: 100 } }),
    onMoment({ book, nowMs }) {
      for (const { command, call } of book.dispatches) {
        const engine = book.engines.get(command.engine)!;
        assert.equal(engine.state, 'up', command.engine);
        assert.ok(engine.models.includes(call!.model), `${command.engine} for ${call!.model}`);
        assert.ok(nowMs >= engine.restUntilMs, `${command.engine} rests`);
        if (book.endedEarly.has(call!.program)) continue;
        const refused = engine.refused.get(call!.program);
        assert.ok(nowMs >= (refused?.untilMs ?? -Infinity), `${command.engine} has refused ${call!.program}`);
        if (refused !== undefined || engine.restUntilMs > -Infinity) rested += 1;
      }
    },
  });
  assert.ok(rested > 25, `only ${rested} after a rest`);
});
