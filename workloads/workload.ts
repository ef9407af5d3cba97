import type { AgentProgram } from './program.js';
import { Dice } from './dice.js';

/** A kind of program: draws programs one by one, lengths only, each from its own dice. */
export interface Workload {
  readonly name: string;
  draw(dice: Dice, id: string): AgentProgram;
}

/** Endless programs, made on demand. Equal seeds give equal programs, however many are taken. */
export function* programs(workload: Workload, seed: number): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1) yield workload.draw(Dice.of(seed, index), `${workload.name}-${seed}-${index + 1}`);
}

/** The process of programs' arrivals. */
export type Arrivals =
  /** A mean rate; `cv` is the coefficient of variation of the times between arrivals: 1 is Poisson. */
  | { readonly type: 'open'; readonly ratePerSecond: number; readonly cv: number }
  /** A fixed number at any time: the next program arrives when one has ended. */
  | { readonly type: 'closed'; readonly concurrency: number }
  /** The times of the trace, sped up by this factor. */
  | { readonly type: 'trace'; readonly speed: number };
