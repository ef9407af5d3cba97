import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';

/** A value to come: a promise, or its equal in virtual time. It never fails. */
export interface Answer<T> {
  then<R>(use: (value: T) => R): Answer<R>;
}

/**
 * State that gateways share, as one of them sees it. No operation throws or rejects, and none takes longer than its time
 * limit: without its store a gateway continues alone, with an equal share of each engine and its own table of programs.
 */
export interface SharedState {
  readonly state: StoreState;

  /** Reports calls and needs. Answers with the parts: alone, equal shares; empty: late, and the listener hears them. */
  claim(claims: readonly EngineClaim[]): Answer<readonly EnginePart[]>;
  /** The gateway uses the engine no more: others get its slots. */
  release(engine: EngineId): void;

  /** The gateway runs the program from now on; its former owner hears of it. Undefined: no answer, so ask again. */
  take(program: ProgramId): Answer<Taken | undefined>;
  /** Merges the gateway's record of a program with those of others. Batched: the last record counts. */
  put(program: ProgramId, record: ProgramRecord): void;
  /** The program is over. Changes nothing if another gateway owns it by now. */
  forget(program: ProgramId): void;

  /** A tenant's key names a program or an engine. Batched. With two names it has none: a wrong merge is worse. */
  remember(tenant: TenantId, key: string, name: string): void;
  /** The program or engine of the first known key. @param keys the longest conversation first */
  find(tenant: TenantId, keys: readonly string[]): Answer<string | undefined>;

  /** The gateway ends: others get its slots. */
  leave(): Answer<void>;
}

export interface Taken {
  /** The program as its last gateway left it; undefined: no record yet. */
  readonly record: ProgramRecord | undefined;
  /** The gateway that ran its calls before: it must hear of the move. */
  readonly from: GatewayId | undefined;
}

/** Messages of the store to a gateway, at any time. */
export interface SharedListener {
  /** Its parts of engines, as they are now. */
  parts(parts: readonly EnginePart[]): void;
  /** Another gateway runs the program's calls. May be heard more than once. */
  moved(program: ProgramId): void;
  /** The store is in use again and may have lost programs: the records of those that this gateway owns. */
  owned(): Iterable<readonly [ProgramId, ProgramRecord]>;
  changed(state: StoreState): void;
}

export interface StoreState {
  /** Whether the store is in use; otherwise the gateway continues alone. */
  readonly up: boolean;
  /** Time at which `up` changed, on the clock of `performance.now()`. */
  readonly sinceMs: number;
  /** Number of live gateways as last heard, this one included. */
  readonly live: number;
  /** Their names as last heard; empty before. */
  readonly gateways: readonly GatewayId[];
  /** Operations that failed or were late, since the start. */
  readonly failures: number;
  /** The last failure, in words; absent: there was none. */
  readonly error?: string;
}
