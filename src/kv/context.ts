import type { ContextClass } from '../policies/retention.js';
import type { Family } from '../protocol/events.js';
import type { Program } from '../programs/process-table.js';

/** The context of one thread of one program in one engine's KV cache. Sizes are in tokens. */
export class Context {
  /** `active`: a call of the thread is in flight on the engine. */
  state: 'active' | 'idle' = 'active';

  // In the cache (`CacheContents`).
  /** Its own tokens in the cache: of each call, the uncached prompt and the answer. */
  ownTokens = 0;
  /** Size in the cache now, without the shared prefix. */
  cachedTokens = 0;
  /** Whether it has left the KV cache, and the engine's host memory has it: it comes back from there. */
  isOnHost = false;
  /** Its family and their shared prefix, as of its last change between active and idle. */
  family: Family | undefined;
  sharedTokens = 0;

  // While active.
  /** Calls in flight, the longest prompt of this spell, and the output reserved by the calls. */
  calls = 0;
  promptTokens = 0;
  reservedTokens = 0;
  /** The largest context that a call of this spell left; among calls cut off, the longest prompt. */
  leftTokens = 0;
  cutOffTokens = 0;
  /** Its state before this spell, restored if no call of the spell reaches the cache. */
  before: IdleContext | undefined;

  // In the working set (`WorkingSet`).
  /** Tokens it counts: its size or its forecast, whichever is larger, less the shared prefix. */
  countedTokens = 0;
  /** While active: prompt and reserved output, less the shared prefix. */
  runningTokens = 0;
  /** While idle: the gate keeps room for its return, weighted by its bucket's share; or a call waits to return to it. */
  isRetained = false;
  isReturning = false;
  /** Whether its family's shared prefix is counted for it. */
  countsShared = false;
  isRecorded = true;
  /** The contexts of its class that fell idle in the same step; undefined while active. */
  bucket: IdleBucket | undefined;

  constructor(
    readonly program: Program,
    readonly thread: string,
  ) {}
}

/** Contexts of one class that fell idle in one step: they are equally likely to return. */
export interface IdleBucket {
  readonly step: number;
  readonly kind: ContextClass;
  readonly members: Set<Context>;
  retainedTokens: number;
  /** Number of members that a call waits to return to. */
  returning: number;
  /** Share of its claims that counts, fixed at each `settle`, so that the tokens taken away equal those added. */
  share: number;
}

/** State of an idle context before a call used it. */
export type IdleContext = Readonly<
  Pick<Context, 'bucket' | 'countedTokens' | 'cachedTokens' | 'isOnHost' | 'family' | 'sharedTokens'>
>;

/** The context that a finished call leaves in the engine's cache, and the estimates made from it. */
export interface CacheFootprint {
  /** Prompt and answer as they came out. */
  readonly contextTokens: number;
  /** Prompt tokens served from the cache; undefined when the engine does not report them. */
  readonly cachedTokens: number | undefined;
  /** Shared prefix of its family, and predicted size of the context; 0: no prediction. */
  readonly sharedTokens: number;
  readonly forecastTokens: number;
}

/** The estimates by which a context counts. */
export type Grown = Pick<CacheFootprint, 'sharedTokens' | 'forecastTokens'>;

/** Trace of an ended call in the cache. `unknown`: cut off. `nothing`: refused, or failed before its first token. */
export type Left = CacheFootprint | 'unknown' | 'nothing';

export const ROOT = '';

/** Parallel root calls of several gateways share a prompt, counted by the last. Sub-agents have their own threads. */
export const isCountedElsewhere = ({ program, thread }: Context): boolean => program.isElsewhere && thread === ROOT;
