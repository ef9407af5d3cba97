import { millis, programId, type Event, type ProgramId } from '../../src/index.js';
import { Dice } from '../../workloads/index.js';
import type { Lens } from './options.js';

/** Programs whose false names are remembered; programs before them are long over. */
const PROGRAMS_MAX = 10_000;
/** Upper bound on the calls after which a split program gets another id. */
const SPLIT_CALLS_MAX = 8;

/** Engines' clocks are off: each service time changes by up to this share, up or down. */
export function noisyService(share: number, seed: number): Lens {
  const dice = new Dice(seed);
  return (event) => {
    if (event.type !== 'callFinished' || event.serviceMs === undefined) return event;
    return { ...event, serviceMs: millis(event.serviceMs * (1 + share * (2 * dice.share() - 1))) };
  };
}

/** Engines report no times: the time from dispatch to end counts as service, the engine's own queue included. */
export const untimed: Lens = (event) => {
  if (event.type !== 'callFinished') return event;
  const { type, call, usage } = event;
  return { type, call, ...(usage && { usage }) };
};

/**
 * Programs are misidentified. Of a `split` share, the calls after the first few get another program's id. The programs
 * of a `merged` share form pairs, and the second of each pair gets the id of the first.
 */
export function misidentified(
  { split, merged }: { readonly split: number; readonly merged: number },
  seed: number,
): Lens {
  const dice = new Dice(seed);
  const names = new Map<ProgramId, () => ProgramId>();
  let unpaired: ProgramId | undefined;

  function mistake(id: ProgramId): () => ProgramId {
    const roll = dice.share();
    if (roll < split) {
      let left = dice.int(1, SPLIT_CALLS_MAX);
      const other = programId(`${id}-other`);
      return () => (left-- > 0 ? id : other);
    }
    if (roll >= split + merged) return () => id;
    const name = unpaired ?? id;
    unpaired = unpaired === undefined ? id : undefined;
    return () => name;
  }

  return (event: Event) => {
    if (event.type !== 'callArrived') return event;
    let name = names.get(event.program);
    if (name === undefined) {
      for (const oldest of names.keys()) {
        if (names.size < PROGRAMS_MAX) break;
        names.delete(oldest);
      }
      names.set(event.program, (name = mistake(event.program)));
    }
    return { ...event, program: name() };
  };
}
