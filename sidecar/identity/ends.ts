import { LRUCache } from 'lru-cache';
import type { ProgramId } from '../../src/index.js';

/**
 * Forgets an ended program under all its keys at once: whatever remembers a program keeps it as a stamped seat, and a seat
 * counts only if it is younger than its program's end. O(1) each.
 */
export class Ends {
  readonly #ends: LRUCache<ProgramId, number>;
  #clock = 0;

  constructor(max: number) {
    this.#ends = new LRUCache({ max });
  }

  ended(program: ProgramId): void {
    this.#ends.set(program, this.tick());
  }

  seat(program: ProgramId): Seat {
    return { program, stamp: this.tick() };
  }

  /** A stamp later than all before. */
  tick(): number {
    return ++this.#clock;
  }

  isAlive({ program, stamp }: Seat): boolean {
    return stamp > (this.#ends.get(program) ?? 0);
  }
}

/** A program as it was remembered at one moment. */
export interface Seat {
  readonly program: ProgramId;
  readonly stamp: number;
}
