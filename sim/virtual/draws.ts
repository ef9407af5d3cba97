import { Dice } from '../../workloads/index.js';
import type { Job } from './job.js';

/** Kinds of chance, each a stream of its own: switching one on leaves the draws of the others alone. */
const STREAMS = ['streams', 'cancelled', 'cancelTime', 'returns', 'backoff', 'refused', 'overlong', 'broken', 'busy', 'loss', 'pause', 'declared', 'mistaken', 'load'] as const; // prettier-ignore
export type Stream = (typeof STREAMS)[number];

/**
 * Random draws for the conditions. A draw depends on the call and its attempt, not on the order of events. So a call
 * meets the same faults under every policy.
 */
export class Draws {
  constructor(private readonly seed: number) {}

  /** The stream of one engine. */
  ofEngine(stream: Stream, engine: number): Dice {
    return Dice.of(this.#seedOf(stream), engine);
  }

  /**
   * A number from 0 to below 1.
   * @param turn index of this draw for the call
   */
  ofCall(stream: Stream, { played, index }: Job, turn = 0): number {
    const program = Math.imul(played.index + 1, 0x27d4eb2f) ^ Math.imul(turn + 1, 0x165667b1);
    return Dice.of(this.#seedOf(stream) ^ program, index).share();
  }

  /** A number from 0 to below 1, the same for all calls of a program. */
  ofProgram(stream: Stream, { played }: Job): number {
    return Dice.of(this.#seedOf(stream), played.index).share();
  }

  #seedOf(stream: Stream): number {
    return Math.imul(this.seed + 1, 0x9e3779b1) ^ Math.imul(STREAMS.indexOf(stream) + 1, 0x85ebca6b);
  }
}

/** An exponentially distributed time with this mean. @param share uniform, from 0 to below 1 */
export const exponential = (share: number, meanMs: number): number => -Math.log(1 - share) * meanMs;
