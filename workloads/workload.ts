import type { AgentProgram } from './program.js';
import { Dice } from './dice.js';

/** A kind of program: draws them one by one, lengths only, each from its own dice. */
export interface Workload {
  readonly name: string;
  draw(dice: Dice, id: string): AgentProgram;
}

/** Programs without end, made as they are asked for. The same seed gives the same ones, however many are taken. */
export function* programs(workload: Workload, seed: number): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1) yield workload.draw(Dice.of(seed, index), `${workload.name}-${seed}-${index + 1}`);
}

/** When programs arrive. */
export type Arrivals =
  /** At so many a second on average; `cv` is the coefficient of variation of the times between them: 1 is Poisson. */
  | { readonly type: 'open'; readonly ratePerSecond: number; readonly cv: number }
  /** So many at any time: the next arrives when one has ended. */
  | { readonly type: 'closed'; readonly concurrency: number }
  /** When their trace says, faster by this factor. */
  | { readonly type: 'trace'; readonly speed: number };
