import assert from 'node:assert/strict';
import { it } from 'vitest';
import { playMany } from '../support/core-play.js';

it('a cancelled call frees its slot or its place in the step that cancels it', () => {
  let running = 0;
  playMany(() => {
    let before = new Map<string, { engine: string | undefined }>();
    return {
      onMoment({ event, book, scheduler }) {
        const was = event?.type === 'callCancelled' ? before.get(event.call) : undefined;
        if (was?.engine !== undefined) {
          running += 1;
          const stayed = [...before.values()].filter(({ engine }) => engine === was.engine).length - 1;
          const came = book.dispatches.filter(({ command }) => command.engine === was.engine).length;
          assert.equal(scheduler.views.engine(was.engine as never)?.inFlight ?? 0, stayed + came);
        }
        if (event?.type === 'callCancelled')
          for (const program of scheduler.views.programs())
            assert.ok(program.threads.every((thread) => thread.call !== event.call));
        before = new Map([...book.active.values()].map(({ id, engine }) => [id, { engine }]));
      },
    };
  });
  assert.ok(running > 25, `only ${running} were running`);
});
