import { Heap } from '../heap.js';
import type { DecodeClock, Sequence } from './sequence.js';

/**
 * The decoding sequences; each gets one token a step. A step changes nothing in them. Their output follows from a clock
 * that counts steps; their total demand follows from sums updated on joining and leaving.
 *
 *   generated   = steps - origin              origin: the clock's reading at its first token, minus one
 *   computed    = prompt + generated - 1 = steps + (prompt - 1 - origin)
 *   new block     in a step that starts with computed a multiple of the block size: the same residue of
 *                 (prompt - 1 - origin) each time, so one count a residue tells the blocks of any number of steps
 *   finishes      at step origin + output (`finishStep`): a heap
 *
 * Joining and leaving cost O(log n), counting the blocks of any number of steps O(block size).
 */
export class Decoders<S extends Sequence> implements DecodeClock {
  /** In order of joining. */
  readonly members = new Set<S>();
  readonly #byFinish = new Heap<S, Sequence>((a, b) =>
    a.finishStep !== b.finishStep ? a.finishStep < b.finishStep : a.joined < b.joined,
  );
  readonly #phases: Int32Array;
  steps = 0;
  #joins = 0;
  #offsets = 0;

  constructor(private readonly blockSize: number) {
    this.#phases = new Int32Array(blockSize);
  }

  get size(): number {
    return this.members.size;
  }

  get context(): number {
    return this.#offsets + this.members.size * this.steps;
  }

  /** Steps until the first sequence finishes; Infinity without any. */
  get stepsToFinish(): number {
    const first = this.#byFinish.first;
    return first === undefined ? Infinity : first.finishStep - this.steps;
  }

  /** The next sequence that has all its tokens, in order of joining. */
  get finished(): S | undefined {
    const first = this.#byFinish.first;
    return first !== undefined && first.finishStep === this.steps ? first : undefined;
  }

  join(sequence: S): void {
    sequence.startDecoding(this, this.#joins++);
    this.members.add(sequence);
    this.#byFinish.add(sequence);
    this.#count(sequence, 1);
  }

  leave(sequence: S): void {
    this.#count(sequence, -1);
    this.#byFinish.remove(sequence);
    this.members.delete(sequence);
    sequence.stopDecoding();
  }

  /** Blocks taken by the steps numbered `from` up to but excluding `to`; 0 is the next step. */
  blocksNeeded(from: number, to: number): number {
    const rounds = Math.floor((to - from) / this.blockSize);
    let blocks = rounds * this.members.size;
    for (let step = from + rounds * this.blockSize; step < to; step += 1) {
      blocks += this.#phases[residue(-this.steps - step, this.blockSize)] ?? 0;
    }
    return blocks;
  }

  /** Number of steps, at most `most`, that fit into this many blocks besides those of the next step. */
  stepsWithin(blocks: number, most: number): number {
    if (this.blocksNeeded(1, most) <= blocks) return most;
    let steps = 1 + Math.floor(blocks / this.members.size) * this.blockSize;
    let left = blocks % this.members.size;
    for (;;) {
      left -= this.blocksNeeded(steps, steps + 1);
      if (left < 0) return steps;
      steps += 1;
    }
  }

  #count(sequence: S, sign: 1 | -1): void {
    const offset = sequence.work.promptTokens - 1 - sequence.decodeOrigin;
    const phase = residue(offset, this.blockSize);
    this.#phases[phase] = (this.#phases[phase] ?? 0) + sign;
    this.#offsets += sign * offset;
  }
}

const residue = (value: number, modulus: number): number => ((value % modulus) + modulus) % modulus;
