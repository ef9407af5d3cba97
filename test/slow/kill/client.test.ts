import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeApart } from './calls.js';
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

it.each(PHASES)(`a client killed ${KILLS} times, with calls that are %s`, async (phase) => {
  const tally = new Tally('client', phase);
  tallies.push(tally);
  const handles = await stage.handles();
  for (; tally.kills < KILLS; tally.kills += 1) await kill(phase, tally);
  expect(tally.faults).toEqual(NO_FAULTS);
  expect(tally.freeMsMax).toBeLessThan(FREE_MS_MAX);
  await stage.until('there are as many handles as before', async () => (await stage.handles()) <= handles);
});

async function kill(phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others } = await play(stage, phase, makeApart);
  await subjects.leave();
  const staying = others.answers.length;
  tally.free(
    await stage.until('only the others are left', async () => {
      const { calls, queued, inFlight } = await stage.held();
      return calls === staying && queued === 0 && inFlight === staying;
    }),
  );
  tally.free(await stage.until('the engines run only the others', async () => (await stage.load()) === staying));
  await stage.faults();
  await others.leave();
  const left = others.answers.map(() => 'left' as const);
  tally.bystood(await Promise.all(others.answers), left);
  await stage.empty();
  // One that only waited in the gateway has never been with an engine; one that waited in an engine has not run there.
  for (const ask of asks) tally.executed(await stage.recordsOf(ask), phase === 'ending' ? 1 : 0);
}
