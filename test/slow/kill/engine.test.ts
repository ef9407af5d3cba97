import { afterAll, beforeAll, expect, it } from 'vitest';
import { PHASES, play, type Phase } from './scene.js';
import { Stage } from './stage.js';
import { KILLS, NO_FAULTS, printTallies, Tally } from './tally.js';

const stage = new Stage();
const tallies: Tally[] = [];
beforeAll(() => stage.open());
afterAll(async () => {
  await stage.close();
  printTallies(tallies);
});

/** What the calls that are looked at must come to. */
const PROMISED = {
  queued: (calls: number) => ({ whole: 2 * calls }),
  dispatched: (calls: number) => ({ whole: calls }),
  streaming: (calls: number) => ({ told: calls }),
  // It had come but for its last word, so it is whole.
  ending: (calls: number) => ({ whole: calls }),
} satisfies Record<Phase, (calls: number) => object>;

it.each(PHASES)(`an engine killed ${KILLS} times, with calls that are %s`, async (phase) => {
  const tally = new Tally('engine', phase);
  tallies.push(tally);
  const handles = await stage.handles();
  for (; tally.kills < KILLS; tally.kills += 1) await kill(phase, tally);
  expect(tally.faults).toEqual(NO_FAULTS);
  expect(tally.looks).toMatchObject(PROMISED[phase](KILLS));
  await stage.until('there are as many handles as before', async () => (await stage.handles()) <= handles);
});

async function kill(phase: Phase, tally: Tally): Promise<void> {
  const { asks, subjects, others, engine } = await play(stage, phase);
  const killed = stage.engines[engine]!;
  await killed.kill();
  await stage.faults();
  // Of the others, the one whose answer it had begun is told; one that waited in it goes on elsewhere.
  if (others.answers.length > 0) {
    await Promise.race(others.answers);
    await others.leave();
    const left = others.answers.slice(1).map(() => 'left' as const);
    tally.bystood(await Promise.all(others.answers), ['told', ...left]);
  }
  for (const [index, answer] of (await Promise.all(subjects.answers)).entries()) {
    tally.answered(asks[index]!, answer);
    tally.executed(await stage.recordsOf(asks[index]!), 1);
  }
  await killed.start();
  await stage.ready();
  tally.free(await stage.empty());
}
