import { makeApart } from './calls.js';
import { campaign } from './campaign.js';
import { play, type Phase } from './scene.js';
import type { Stage } from './stage.js';
import type { Tally } from './tally.js';

campaign({ victim: 'client', kill, promised: () => ({}) });

async function kill(stage: Stage, phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others } = await play(stage, phase, makeApart);
  await subjects.leave();
  const staying = others.answers.length;
  const gateway = stage.until('the gateway holds only the others', async () => {
    const { calls, queued, inFlight } = await stage.held();
    return calls === staying && queued === 0 && inFlight === staying;
  });
  tally.free(await gateway);
  tally.free(await stage.until('the engines hold only the others', async () => (await stage.load()) === staying));
  await stage.faults();
  await others.leave();
  const left = others.answers.map(() => 'left' as const);
  tally.bystood(await Promise.all(others.answers), left);
  await stage.empty();
  // Only an answer that had come but for its last word has been completed for nobody.
  for (const ask of asks) tally.executed(await stage.recordsOf(ask), phase === 'ending' ? 1 : 0);
}
