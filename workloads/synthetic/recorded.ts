import type { AgentProgram } from '../program.js';
import { Dice } from '../dice.js';

/**
 * Programs of a recording in random order, reshuffled and reused when exhausted, with new ids and contexts of their
 * own.
 */
export function* recordedPrograms(recorded: readonly AgentProgram[], seed: number): Generator<AgentProgram, never> {
  for (let pass = 1; ; pass += 1)
    for (const program of shuffled(recorded, Dice.of(seed, pass)))
      yield pass === 1 ? program : { ...program, id: `${program.id}~${pass}` };
}

/** Yields the programs with all gaps cut at `gapMsMax`. */
export function* withShortGaps(programs: Iterable<AgentProgram>, gapMsMax: number): Generator<AgentProgram> {
  for (const program of programs) {
    const { calls } = program;
    const isLong = calls.some(({ gapMs }) => gapMs > gapMsMax);
    yield isLong ? { ...program, calls: calls.map((call) => ({ ...call, gapMs: Math.min(call.gapMs, gapMsMax) })) } : program; // prettier-ignore
  }
}

/** Fisher-Yates shuffle. */
function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  const deck = [...items];
  for (let last = deck.length - 1; last > 0; last -= 1) {
    const other = dice.int(0, last);
    [deck[last], deck[other]] = [deck[other] as T, deck[last] as T];
  }
  return deck;
}
