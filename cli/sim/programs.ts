import type { AgentProgram } from '../../sim/index.js';
import { Dice } from '../../sim/workloads/dice.js';
import { programs } from '../../sim/workloads/workload.js';
import { openWorkload } from '../../sim/workloads/workloads.js';
import type { Plan } from './plan.js';

/**
 * The programs of a run, drawn by its seed. Those of a recording come in the order of their arrivals where it sets
 * these. Else all of it comes in an order by chance, then again in another: under new ids, with contexts of their own.
 */
export function programsOf({ source, arrivals }: Plan, seed: number): Iterable<AgentProgram> {
  if (source.type === 'workload') return programs(openWorkload(source.workload), seed);
  if (arrivals.type === 'trace') return source.programs.toSorted((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0));
  return passes(source.programs, seed);
}

function* passes(recorded: readonly AgentProgram[], seed: number): Generator<AgentProgram, never> {
  for (let pass = 1; ; pass += 1)
    for (const program of shuffled(recorded, Dice.of(seed, pass)))
      yield pass === 1 ? program : { ...program, id: `${program.id}~${pass}` };
}

/** Fisher and Yates. */
function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  const deck = [...items];
  for (let last = deck.length - 1; last > 0; last -= 1) {
    const other = dice.int(0, last);
    [deck[last], deck[other]] = [deck[other] as T, deck[last] as T];
  }
  return deck;
}
