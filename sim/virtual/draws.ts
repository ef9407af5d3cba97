import { Dice } from '../../workloads/index.js';
import type { Job } from './job.js';

/** Kinds of chance, each a stream of its own: switching one on leaves the draws of the others alone. */
const STREAMS = ['streams', 'cancelled', 'cancelTime', 'returns', 'backoff', 'refused', 'overlong', 'broken', 'busy', 'loss', 'pause'] as const; // prettier-ignore
export type Stream = (typeof STREAMS)[number];

/**
 * The chance of conditions. A draw depends on the call and on how often it was asked, not on the order of events, so that
 * a call meets the same under every policy.
 */
export class Draws {
  constructor(private readonly seed: number) {}

  /** The stream of one engine. */
  ofEngine(stream: Stream, engine: number): Dice {
    return Dice.of(this.#seedOf(stream), engine);
  }

  /**
   * At least 0, below 1.
   * @param turn which time it is that this is drawn for the call
   */
  ofCall(stream: Stream, { played, index }: Job, turn = 0): number {
    const program = Math.imul(played.index + 1, 0x27d4eb2f) ^ Math.imul(turn + 1, 0x165667b1);
    return Dice.of(this.#seedOf(stream) ^ program, index).share();
  }

  #seedOf(stream: Stream): number {
    return Math.imul(this.seed + 1, 0x9e3779b1) ^ Math.imul(STREAMS.indexOf(stream) + 1, 0x85ebca6b);
  }
}

/** An exponential time of that mean, of a draw from 0 to below 1. */
export const exponential = (share: number, meanMs: number): number => -Math.log(1 - share) * meanMs;
