import { Dice as Stream } from '../../workloads/dice.js';

/** Random choices: the same seed gives the same test. */
export class Dice extends Stream {
  chance(share: number): boolean {
    return this.share() < share;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('nothing to pick from');
    return from[this.int(0, from.length - 1)] as T;
  }
}
