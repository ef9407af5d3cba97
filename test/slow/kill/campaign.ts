import { afterAll, expect, it } from 'vitest';
import { PHASES, type Phase } from './scene.js';
import { FREE_MS_MAX, Stage } from './stage.js';
import { NO_FAULTS, printTallies, Tally } from './tally.js';

/** Times that each is killed in each phase. */
const KILLS = Number(process.env['TEST_KILLS'] ?? 20);
/** A poll or two of this test's own. */
const HANDLES_BESIDE = 2;

export interface Campaign {
  readonly victim: string;
  /** Brings calls into a phase, kills, and tells the tally how they looked. */
  readonly kill: (stage: Stage, phase: Phase, tally: Tally) => Promise<void>;
  /** How all calls of so many kills must have looked. */
  readonly promised: (phase: Phase, kills: number) => Partial<Tally['looks']>;
}

/** Kills one thing again and again, in each phase. */
export function campaign({ victim, kill, promised }: Campaign): void {
  const tallies: Tally[] = [];
  afterAll(() => printTallies(tallies));

  it.each(PHASES)(`${victim} killed ${KILLS} times, with calls that are %s`, async (phase) => {
    const tally = new Tally(victim, phase);
    tallies.push(tally);
    const stage = new Stage();
    try {
      await stage.open();
      const { pid } = stage.gateway;
      const before = await stage.handles();
      for (; tally.kills < KILLS; tally.kills += 1) await kill(stage, phase, tally);
      expect(tally.faults).toEqual(NO_FAULTS);
      expect(tally.looks).toMatchObject(promised(phase, KILLS));
      expect(tally.freeMsMax).toBeLessThan(FREE_MS_MAX);
      if (stage.gateway.pid === pid) await stage.until(`it holds no more open than ${before} as before`, async () => (await stage.handles()) <= before + HANDLES_BESIDE); // prettier-ignore
    } finally {
      await stage.close();
    }
  });
}
