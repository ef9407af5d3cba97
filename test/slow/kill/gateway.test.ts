import { makeFrom } from './calls.js';
import { campaign } from './campaign.js';
import { play, type Phase } from './scene.js';
import type { Stage } from './stage.js';
import type { Tally } from './tally.js';

campaign({
  victim: 'gateway',
  kill,
  promised: (phase, kills) => {
    const calls = phase === 'queued' ? 2 * kills : kills;
    // Each breaks, and each retry of it is served.
    return { broken: calls, whole: calls };
  },
});

async function kill(stage: Stage, phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others } = await play(stage, phase);
  await stage.gateway.kill();
  const answers = await Promise.all(subjects.answers);
  for (const [index, answer] of answers.entries()) tally.answered(asks[index]!, answer);
  const broken = others.answers.map(() => 'broken' as const);
  tally.bystood(await Promise.all(others.answers), broken);
  tally.free(await stage.idle());
  await stage.faults();
  await stage.gateway.start();
  const retries = makeFrom(stage.pool, { 'x-stainless-retry-count': '1' })(stage.gateway.url, asks);
  for (const [index, answer] of (await Promise.all(retries.answers)).entries()) {
    tally.answered(asks[index]!, answer);
    tally.executed(await stage.recordsOf(asks[index]!), 2);
  }
  await stage.empty();
}
