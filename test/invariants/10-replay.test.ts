import assert from 'node:assert/strict';
import { it } from 'vitest';
import { play, playMany } from '../support/core-play.js';

it('the same events give the same commands, and looking changes nothing', () => {
  let commands = 0;
  playMany((seed) => ({
    onEnd() {
      const plain = play({ seed, ghosts: true });
      const watched = play({
        seed,
        ghosts: true,
        onMoment({ scheduler }) {
          scheduler.views.queue();
          scheduler.views.engines();
          const [waiting] = scheduler.views.waits();
          if (waiting !== undefined) scheduler.views.call(waiting[0]);
          for (const program of scheduler.views.programs()) scheduler.views.program(program.id);
        },
      });
      commands += plain.length;
      assert.deepEqual(watched, plain);
    },
    steps: 0,
  }));
  assert.ok(commands > 2_500, `only ${commands} commands`);
});
