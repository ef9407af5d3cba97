import type { ContextClass } from '../policies/retention.js';
import type { Family } from '../protocol/events.js';
import type { Program } from '../programs/process-table.js';

/** The context of one thread of one program in one engine's KV cache. Sizes are in tokens. */
export interface Context {
  readonly program: Program;
  readonly thread: string;
  /** `active`: a call of the thread is in flight on the engine. `idle`: none is. */
  state: 'active' | 'idle';

  // In the cache (`CacheContents`).
  /** Its own tokens in the cache: of each call, the uncached prompt and the answer. */
  ownTokens: number;
  /** Size in the cache now, without the shared prefix. */
  cachedTokens: number;
  /** Whether it has left the KV cache, and the engine's host memory has it: it comes back from there. */
  isOnHost: boolean;
  /** Its family and their shared prefix, as of its last change between active and idle. */
  family: Family | undefined;
  sharedTokens: number;

  // While active.
  /** Calls in flight, the longest prompt of this spell, and the output reserved by the calls. */
  calls: number;
  promptTokens: number;
  reservedTokens: number;
  /** The largest context that a call of this spell left; among calls cut off, the longest prompt. */
  leftTokens: number;
  cutOffTokens: number;
  /** Its state before this spell, restored if no call of the spell reaches the cache. */
  before: IdleContext | undefined;

  // In the working set (`WorkingSet`).
  /** Tokens it counts: its size or its forecast, whichever is larger, less the shared prefix. */
  countedTokens: number;
  /** While active: prompt and reserved output, less the shared prefix. */
  runningTokens: number;
  /** While idle: the gate keeps room for its return, weighted by its bucket's share. */
  isRetained: boolean;
  /** While idle: a call of the thread waits to return to it. */
  isReturning: boolean;
  /** Whether its family's shared prefix is counted for it. */
  countsShared: boolean;
  /** Whether this idle spell's outcome has been learnt. */
  isRecorded: boolean;
  /** The contexts of its class that fell idle in the same step; undefined while active. */
  bucket: IdleBucket | undefined;
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

/** State of an idle context before a call used it, restored if the call changes nothing. */
export type IdleContext = Readonly<
  Pick<Context, 'bucket' | 'countedTokens' | 'cachedTokens' | 'isOnHost' | 'family' | 'sharedTokens'>
>;

export function newContext(program: Program, thread: string): Context {
  return {
    program,
    thread,
    state: 'active',
    ownTokens: 0,
    cachedTokens: 0,
    isOnHost: false,
    family: undefined,
    sharedTokens: 0,
    calls: 0,
    promptTokens: 0,
    reservedTokens: 0,
    leftTokens: 0,
    cutOffTokens: 0,
    before: undefined,
    countedTokens: 0,
    runningTokens: 0,
    isRetained: false,
    isReturning: false,
    countsShared: false,
    isRecorded: true,
    bucket: undefined,
  };
}

/** The thread of a program's root. */
export const ROOT = '';

/**
 * Parallel calls of the root at several gateways share one prompt, which the last of these counts. Sub-agents' calls
 * seldom run in parallel, and each has a thread of its own.
 */
export const isCountedElsewhere = ({ program, thread }: Context): boolean => program.isElsewhere && thread === ROOT;
