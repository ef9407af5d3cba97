import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('a call is dispatched only into a free slot of the window, which is no larger than config and engine allow', () => {
  playMany({
    adjust: (config) =>
      config.policy.name === 'pass-through' ? { ...config, policy: { ...config.policy, name: 'plas' } } : config,
    onMoment({ book, scheduler, config }) {
      for (const { command, runningBefore } of book.dispatches) {
        const engine = book.engines.get(command.engine)!;
        const { window } = scheduler.views.engine(command.engine)!;
        assert.ok(runningBefore < window, `${runningBefore + 1} calls in a window of ${window}`);
        assert.ok(!engine.probation || runningBefore === 0, 'one call at a time on probation');
        const { window: set, windowMax } = config.admission;
        const most = Math.min(
          typeof set === 'number' ? set : Infinity,
          engine.windowMax ?? (typeof set === 'number' ? set : windowMax),
        );
        assert.ok(runningBefore < most, `${runningBefore + 1} calls where ${most} are allowed`);
      }
    },
  });
});
