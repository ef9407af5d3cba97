/** One request as the engine sees it: lengths and block hashes, no text. */
export interface Work {
  readonly promptTokens: number;
  /** Tokens it will generate, 1 or more: decided by whoever adds it, hidden from every scheduler outside. */
  readonly outputTokens: number;
  /**
   * Hashes of the full blocks of prompt and answer, in order; each covers all that precedes it, so that equal hashes
   * mean equal prefixes. Blocks beyond the end of the list are never shared.
   */
  readonly blockHashes: ArrayLike<number>;
  /** Lower goes first; read under `priority` scheduling only. */
  readonly priority: number;
}

/**
 *            add            begin             end
 *   (refused) <- waiting ----------> running ------> finished
 *                   ^  <-- preempted --'  |
 *                   `------- abort -------`-> aborted
 */
export type SequenceState = 'waiting' | 'running' | 'finished' | 'aborted';

/** A request inside the engine. Only the engine writes its fields; times are in milliseconds of the driver's clock. */
export class Sequence<W extends Work = Work> {
  state: SequenceState = 'waiting';
  /** Tokens whose keys and values are in the cache. */
  computed = 0;
  generated = 0;
  /** Prompt tokens found in the prefix cache when it first ran. */
  cachedTokens = 0;
  preemptions = 0;
  scheduledAt = NaN;
  firstTokenAt = NaN;
  endedAt = NaN;

  /** Tokens the step under way computes for it. */
  inStep = 0;
  /** Its blocks in order, and how many of them are registered for reuse. */
  readonly blocks: number[] = [];
  hashedBlocks = 0;
  /** Place in the waiting heap, -1 outside it. */
  heapIndex = -1;
  /** Count of freed blocks when it last found no room: until it has grown, it need not be tried again. */
  refusedAtFreed = -1;

  constructor(
    readonly work: W,
    /** Order of arrival, unique: every tie ends here. */
    readonly arrival: number,
    readonly rank: number,
    readonly arrivedAt: number,
  ) {}

  /** Tokens it consists of now; a step brings `computed` up to this and then samples one more. */
  get length(): number {
    return this.work.promptTokens + this.generated;
  }
}

/** Whether `a` is served before `b`; the last in this order is the first to be preempted. */
export function goesBefore(a: Sequence, b: Sequence): boolean {
  return a.rank !== b.rank ? a.rank < b.rank : a.arrival < b.arrival;
}
