import type { ContextClass } from '../policies/retention.js';
import type { Family } from '../protocol/events.js';
import type { Program } from '../programs/process-table.js';

/** A context in one engine's KV cache: that of one thread of one program. */
export interface Context {
  readonly program: Program;
  readonly thread: string;
  /** `active`: a call of the thread is in flight on the engine. `idle`: none is. */
  state: 'active' | 'idle';

  // In the cache (`CacheContents`).
  /** Tokens that only it has put into the cache: of each call, the prompt that was not cached and the answer. */
  ownTokens: number;
  /** Tokens that it takes of the cache now. */
  cachedTokens: number;
  /** Its family and the tokens that it shares with it, as counted when it began to be `active` or was last left. */
  family: Family | undefined;
  sharedTokens: number;

  // While active.
  /** Calls in flight, the longest prompt of this spell, and the output reserved by the calls. */
  calls: number;
  promptTokens: number;
  reservedTokens: number;
  /** The largest context that a call of this spell has left behind; of those that were cut off, the longest prompt. */
  leftTokens: number;
  cutOffTokens: number;
  /** What it was before this spell, for when no call of the spell reaches the cache. */
  before: IdleContext | undefined;

  // In the working set (`WorkingSet`).
  /** Tokens that it counts: its size, or what it is expected to grow to, less what it shares. */
  countedTokens: number;
  /** While idle: the gate keeps room for its return, weighted by its bucket's share. */
  isRetained: boolean;
  /** While idle: a call of the thread waits to come back to it. */
  isReturning: boolean;
  /** Whether its family's shared beginning is counted for it. */
  countsShared: boolean;
  /** Whether this idle spell's outcome has been learnt. */
  isRecorded: boolean;
  /** The others of its class that fell idle in the same step; undefined while active. */
  bucket: IdleBucket | undefined;
}

/** Contexts of one class that fell idle in one step: they are equally likely to return. */
export interface IdleBucket {
  readonly step: number;
  readonly kind: ContextClass;
  readonly members: Set<Context>;
  retainedTokens: number;
  /** Members that a call waits to come back to. */
  returning: number;
  /** Part of the claims that counts, as of the last `settle`: what was added is what is taken away. */
  share: number;
}

/** What an idle context was before a call took it up, to be given back if the call changes nothing. */
export type IdleContext = Readonly<
  Pick<Context, 'bucket' | 'countedTokens' | 'cachedTokens' | 'family' | 'sharedTokens'>
>;

export function newContext(program: Program, thread: string): Context {
  return {
    program,
    thread,
    state: 'active',
    ownTokens: 0,
    cachedTokens: 0,
    family: undefined,
    sharedTokens: 0,
    calls: 0,
    promptTokens: 0,
    reservedTokens: 0,
    leftTokens: 0,
    cutOffTokens: 0,
    before: undefined,
    countedTokens: 0,
    isRetained: false,
    isReturning: false,
    countsShared: false,
    isRecorded: true,
    bucket: undefined,
  };
}
