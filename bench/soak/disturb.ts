import { setTimeout as sleep } from 'node:timers/promises';
import { setFaults } from '../../processes/gateway.js';
import { VARIATIONS, type Stage } from './stage.js';

const FAULT_MS = 5000;
const RELOAD_MS = 30_000;
const KILL_MS = 150_000;
const AWAY_MS = 5000;
/** Of the next answers of one engine. */
const ANSWERS = 3;
const FAULTS = [
  ...'reset reset-after=5 status=500 status=503;retry-after=1 status=429 hang hang-after=4'.split(' '),
  ...'half=3 garbage html slow=800 no-usage short-length'.split(' '),
];

/** Lets things go wrong until `signal`, then puts all right again. Returns how often. */
export async function disturb(stage: Stage, random: () => number, signal: AbortSignal) {
  const done = { faults: 0, kills: 0, reloads: 0 };
  const every = async (ms: number, act: (turn: number) => void | Promise<void>) => {
    for (let turn = 0; await passes(ms, signal); turn += 1) await act(turn);
  };
  const engineAt = (index: number) => stage.engines[index % stage.engines.length]!;
  await Promise.all([
    every(FAULT_MS, async (turn) => {
      const engine = engineAt(Math.floor(random() * stage.engines.length));
      const count = 1 + Math.floor(random() * ANSWERS);
      done.faults += count;
      await setFaults(engine.url, Array<string>(count).fill(FAULTS[turn % FAULTS.length]!));
    }),
    every(KILL_MS, async (turn) => {
      done.kills += 1;
      await engineAt(turn).kill();
      await passes(AWAY_MS, signal);
      await engineAt(turn).start();
    }),
    every(RELOAD_MS, (turn) => {
      done.reloads += 1;
      stage.reload(VARIATIONS[(turn + 1) % VARIATIONS.length]!);
    }),
  ]);
  stage.reload('as it was');
  await Promise.all(stage.engines.map((engine) => setFaults(engine.url)));
  return done;
}

/** False when it is over before. */
const passes = (ms: number, signal: AbortSignal): Promise<boolean> => sleep(ms, true, { signal }).catch(() => false);
