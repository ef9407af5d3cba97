import type { AgentProgram } from '../traces/program.js';
import type { Dice } from './dice.js';

/** A kind of program: draws them one by one, lengths only, each from its own dice. */
export interface Workload {
  readonly name: string;
  draw(dice: Dice, id: string): AgentProgram;
}

/** When programs arrive. */
export type Arrivals =
  /** At so many a second on average; `cv` is the coefficient of variation of the times between them: 1 is Poisson. */
  | { readonly type: 'open'; readonly ratePerSecond: number; readonly cv: number }
  /** So many at any time: the next arrives when one has ended. */
  | { readonly type: 'closed'; readonly concurrency: number }
  /** When their trace says, faster by this factor. */
  | { readonly type: 'trace'; readonly speed: number };
