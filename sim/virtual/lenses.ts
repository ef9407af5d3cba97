import { millis, programId, type Event, type ProgramId } from '../../src/index.js';
import { Dice } from '../../workloads/index.js';
import type { Lens } from './options.js';

/** Programs whose false names are remembered; those behind them are long over. */
const PROGRAMS_MAX = 10_000;
/** A split program is taken for another one after so many of its calls at the latest. */
const SPLIT_CALLS_MAX = 8;

/** Engines' clocks are off: each service time by up to this share, up or down. */
export function noisyService(share: number, seed: number): Lens {
  const dice = new Dice(seed);
  return (event) => {
    if (event.type !== 'callFinished' || event.serviceMs === undefined) return event;
    return { ...event, serviceMs: millis(event.serviceMs * (1 + share * (2 * dice.share() - 1))) };
  };
}

/** Engines do not tell times: all from the dispatch of a call to its end counts as service, their own queues included. */
export const untimed: Lens = (event) => {
  if (event.type !== 'callFinished') return event;
  const { type, call, usage, calledTool } = event;
  return { type, call, ...(usage && { usage }), ...(calledTool !== undefined && { calledTool }) };
};

/**
 * Programs are not told apart rightly: of so large a share of them, the calls after the first few pass for another program's;
 * and of so large a share, each passes for the one before it of these, two by two.
 */
export function misidentified(
  { split, merged }: { readonly split: number; readonly merged: number },
  seed: number,
): Lens {
  const dice = new Dice(seed);
  const names = new Map<ProgramId, () => ProgramId>();
  let unpaired: ProgramId | undefined;

  /** What the program's next call passes for. */
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
