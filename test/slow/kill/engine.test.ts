import { campaign } from './campaign.js';
import { play, type Phase } from './scene.js';
import type { Stage } from './stage.js';
import type { Tally } from './tally.js';

campaign({
  victim: 'engine',
  kill,
  promised: (phase, kills) => {
    // An answer that was being sent cannot go on elsewhere. One that had come but for its last word is whole.
    if (phase === 'streaming') return { told: kills };
    return { whole: phase === 'queued' ? 2 * kills : kills };
  },
});

async function kill(stage: Stage, phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others, engine } = await play(stage, phase);
  const killed = stage.engines[engine]!;
  await killed.kill();
  await stage.faults();
  if (others.answers.length > 0) {
    // The one whose answer it had begun is told; one that waited in it goes on elsewhere, until its client leaves.
    await Promise.race(others.answers);
    await others.leave();
    tally.bystood(await Promise.all(others.answers), ['told', ...others.answers.slice(1).map(() => 'left' as const)]);
  }
  for (const [index, answer] of (await Promise.all(subjects.answers)).entries()) {
    tally.answered(asks[index]!, answer);
    tally.executed(await stage.recordsOf(asks[index]!), 1);
  }
  tally.free(await stage.empty());
  await killed.start();
  await stage.ready();
}
