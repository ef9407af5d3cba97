import type { BlockHashes } from './blocks.js';
import { KvHold } from './kv-cache.js';

/** One request as the engine sees it: lengths and block hashes, no text. */
export interface Work {
  readonly promptTokens: number;
  /** Tokens that it will generate, 1 or more: set by the caller, hidden from every scheduler outside. */
  readonly outputTokens: number;
  /** Of prompt and answer; later blocks are never shared. */
  readonly blockHashes: BlockHashes;
  /** Whether its loads from the host fail: a fault. */
  readonly failsLoad?: boolean | undefined;
}

/**
 *            add            begin             end
 *   (refused) <- waiting ----------> running ------> finished
 *                   ^  <-- preempted --'  |
 *                   `------- abort -------`-> aborted
 */
export type SequenceState = 'waiting' | 'running' | 'finished' | 'aborted';

/** Counts the steps in which every decoding sequence gets a token. */
export interface DecodeClock {
  readonly steps: number;
}

/** A request inside the engine. Only the engine writes its fields; times are in milliseconds of the driver's clock. */
export class Sequence<W extends Work = Work> {
  state: SequenceState = 'waiting';
  /** Prompt tokens found in the prefix cache when it first ran. */
  cachedTokens = 0;
  /** Those of them that came back from the host. */
  hostTokens = 0;
  /** Whether its load has ended, well or not, so that it does not load again before a preemption. */
  isLoaded = false;
  /** Steps that had begun when it came. */
  stepsBefore = 0;
  preemptions = 0;
  scheduledAt = NaN;
  firstTokenAt = NaN;
  endedAt = NaN;

  /** During its prefill: tokens in the cache, and tokens of the step under way. */
  prefilled = 0;
  inStep = 0;
  readonly hold = new KvHold();
  /** -1 outside its heap. */
  heapIndex = -1;
  /** Count of freed blocks when it last found no room. Until that count grows, another try is futile. */
  refusedAtFreed = -1;
  /**
   * While it decodes: its order among the decoding sequences, and the clock's readings at no tokens and at all of them.
   */
  joined = 0;
  decodeOrigin = 0;
  finishStep = 0;
  #clock: DecodeClock | undefined;
  #generated = 0;

  constructor(
    readonly work: W,
    /** Order of arrival, unique. */
    readonly arrival: number,
    readonly arrivedAt: number,
  ) {}

  /** Tokens generated, without those of a step or stretch under way. */
  get generated(): number {
    return this.#clock === undefined ? this.#generated : this.#clock.steps - this.decodeOrigin;
  }

  get decoding(): boolean {
    return this.#clock !== undefined;
  }

  /** Its present length; a step brings `computed` up to this and then samples one more token. */
  get length(): number {
    return this.work.promptTokens + this.generated;
  }

  /** Tokens whose keys and values are in the cache. */
  get computed(): number {
    return this.decoding ? this.length - 1 : this.prefilled;
  }

  /** All of it is computed: the step samples its next token. */
  sample(): void {
    this.#generated += 1;
  }

  /** From now on it gets a token at each tick of the clock. */
  startDecoding(clock: DecodeClock, joined: number): void {
    this.decodeOrigin = clock.steps - this.#generated;
    this.finishStep = this.decodeOrigin + this.work.outputTokens;
    this.joined = joined;
    this.#clock = clock;
  }

  stopDecoding(): void {
    this.prefilled = this.computed;
    this.#generated = this.generated;
    this.#clock = undefined;
  }
}

/** Whether `a` is served before `b`; the last in this order is the first to be preempted. */
export const goesBefore = (a: Sequence, b: Sequence): boolean => a.arrival < b.arrival;
