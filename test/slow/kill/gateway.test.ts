import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeFrom } from './calls.js';
import { PHASES, play, type Phase } from './scene.js';
import { FREE_MS_MAX, Stage } from './stage.js';
import { KILLS, NO_FAULTS, printTallies, Tally } from './tally.js';

const stage = new Stage();
const tallies: Tally[] = [];
beforeAll(() => stage.open());
afterAll(async () => {
  await stage.close();
  printTallies(tallies);
});

it.each(PHASES)(`the gateway killed ${KILLS} times, with calls that are %s`, async (phase) => {
  const tally = new Tally('gateway', phase);
  tallies.push(tally);
  for (; tally.kills < KILLS; tally.kills += 1) await kill(phase, tally);
  const calls = phase === 'queued' ? 2 * KILLS : KILLS;
  expect(tally.faults).toEqual(NO_FAULTS);
  // Each breaks, and each retry of it is served.
  expect(tally.looks).toMatchObject({ broken: calls, whole: calls });
  expect(tally.freeMsMax).toBeLessThan(FREE_MS_MAX);
});

async function kill(phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others } = await play(stage, phase);
  await stage.gateway.kill();
  const broken = others.answers.map(() => 'broken' as const);
  tally.bystood(await Promise.all(others.answers), broken);
  for (const [index, answer] of (await Promise.all(subjects.answers)).entries()) tally.answered(asks[index]!, answer);
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
