import type { AgentProgram } from './program.js';
import { Dice } from './dice.js';

/** A kind of program: draws programs one by one, lengths only, each from its own dice. */
export interface Workload {
  readonly name: string;
  /** Whether some of them have a tenant. */
  readonly hasTenants?: boolean;
  draw(dice: Dice, id: string): AgentProgram;
}

/** Endless programs, made on demand. Equal seeds give equal programs, however many are taken. */
export function* programs(workload: Workload, seed: number): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1) yield workload.draw(Dice.of(seed, index), `${workload.name}-${seed}-${index + 1}`);
}

export type Arrivals =
  /** A mean rate; `cv` is the coefficient of variation of the times between arrivals: 1 is Poisson. */
  | { readonly type: 'open'; readonly ratePerSecond: number; readonly cv: number }
  /** A fixed number at any time: the next program arrives when one has ended. */
  | { readonly type: 'closed'; readonly concurrency: number }
  /** The times of the trace, sped up by this factor. */
  | { readonly type: 'trace'; readonly speed: number };

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
    yield isLong
      ? { ...program, calls: calls.map((call) => ({ ...call, gapMs: Math.min(call.gapMs, gapMsMax) })) }
      : program;
  }
}

function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  const deck = [...items];
  for (let last = deck.length - 1; last > 0; last -= 1) {
    const other = dice.int(0, last);
    [deck[last], deck[other]] = [deck[other] as T, deck[last] as T];
  }
  return deck;
}

/** Times of arrival in milliseconds from the start: endless, and never decreasing. The times between them are independent and gamma distributed. */
export function* arrivalTimes(
  { ratePerSecond, cv }: Extract<Arrivals, { type: 'open' }>,
  dice: Dice,
): Generator<number, never> {
  for (let nowMs = 0; ;) {
    nowMs += dice.gammaOf(1000 / ratePerSecond, cv);
    yield nowMs;
  }
}
