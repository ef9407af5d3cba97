import { invariant } from '../invariant.js';
import type { AgentType } from './agent-types.js';
import type { Call } from './call.js';
import type { Engine } from '../engines/engine.js';
import type { ProgramGone } from '../protocol/events.js';
import type { Outlook } from '../foresight/outlook.js';
import type { ProgramId, TenantId } from '../protocol/units.js';

const NO_CALLS: readonly Call[] = [];

/** One row of the process table (Autellix, "Process Table"): all that the scheduler knows of a program. */
export class Program {
  /** Attained service: engine time of its calls, or of the longest observed chain of them (`policy.charge`). */
  serviceMs = 0;
  waitingMs = 0;
  waitMsMax = 0;
  /** Waiting along a chain of calls since the last promotion: the numerator of the starvation ratio. */
  waitSincePromotionMs = 0;
  promotedAtMs = -Infinity;

  /** The engine of its long calls, and that engine's `life` then: an engine that returned empty is no home. */
  #home: Engine | undefined;
  #homeLife = 0;
  /** Engine of its last finished call. */
  lastEngine: Engine | undefined;

  /** Active calls (Autellix's thread metadata), unordered; undefined while there are none, as idle rows are many. */
  #calls: Call[] | undefined;
  waiting = 0;
  lastArrivalAtMs: number;
  lastCompletionAtMs: number | undefined;
  contextTokens = 0;

  /** Root thread only: answered calls; whether none has followed the last of them; whether one ever followed. */
  rootCallsFinished = 0;
  rootIsUnfollowed = false;
  rootWentOn = false;
  /** Root thread only: the first prompt; the context left by the last finished call, and its time. */
  firstPromptTokens = 0;
  rootContextTokens = 0;
  rootEndedAtMs = -Infinity;
  callsTotal = 0;
  /** Answered calls. Of a program that has run at other gateways at least one, if any was answered there. */
  callsFinished = 0;
  promotions = 0;
  promptTokens = 0;
  cachedTokens = 0;
  outputTokens = 0;

  /** Its agent type, by the family of its first call; set when the row is made. */
  type!: AgentType;
  /** Its rest as its client declares it; undefined without foresight, and before its first call with it. */
  outlook: Outlook | undefined;

  /** Cause of its removal from the table. The program ends with its last active call. */
  removed: ProgramGone['cause'] | undefined;
  /** Neighbours in the list of idle rows. */
  idleSinceMs: number | undefined;
  isPresumedEnded = false;
  /** Another gateway runs its calls, and learns its end. */
  isElsewhere = false;
  olderIdle: Program | undefined;
  newerIdle: Program | undefined;

  constructor(
    readonly id: ProgramId,
    readonly tenant: TenantId,
    readonly createdAtMs: number,
  ) {
    this.lastArrivalAtMs = createdAtMs;
  }

  get activeCalls(): readonly Call[] {
    return this.#calls ?? NO_CALLS;
  }

  begin(call: Call): void {
    call.programIndex = (this.#calls ??= []).push(call) - 1;
    this.lastArrivalAtMs = call.arrivedAtMs;
    this.callsTotal += 1;
  }

  /** Removes an ended call. Returns true when it was the last active one. */
  end(call: Call): boolean {
    invariant(this.#calls?.[call.programIndex] === call, 'a call that ends is active');
    const last = this.#calls?.pop();
    if (this.#calls?.length === 0) this.#calls = undefined;
    // An array, not a Set: a Set keeps holes of deleted entries, which slow down a look at the first few.
    if (this.#calls !== undefined && last !== undefined && last !== call) {
      this.#calls[call.programIndex] = last;
      last.programIndex = call.programIndex;
    }
    return this.#calls === undefined;
  }

  get home(): Engine | undefined {
    return this.#home?.state === 'up' && this.#home.life === this.#homeLife ? this.#home : undefined;
  }

  /** One of its calls was promoted: the starvation window starts anew for all active ones. */
  restartWindow(nowMs: number): void {
    this.promotions += 1;
    this.promotedAtMs = nowMs;
    this.waitSincePromotionMs = 0;
    for (const call of this.activeCalls) call.carriedWaitMs = -call.waitingMs(nowMs);
  }

  get hasEnded(): boolean {
    return this.removed !== undefined && this.#calls === undefined;
  }

  bind(engine: Engine): void {
    this.#home = engine;
    this.#homeLife = engine.life;
  }
}

export interface Admitted {
  readonly row: Program;
  readonly evicted: Program | undefined;
}

/**
 * The process table: rows by id, and the idle ones in the order in which they fell idle.
 *
 *     rows:   id ─> Program                            Map, at most `programsMax`
 *     idle:   oldest <─> ... <─> newest                doubly linked through the rows
 *
 *     first call ──> active ──last call ends──> idle ──idle beyond the horizon──> presumed ended
 *                      ^                         │                                  │
 *                      └────────next call────────┴──────────────────────────────────┘
 *
 *     idle, presumed ended ──explicit end, lease over, table full──> ended
 *     active ──explicit end──> removed ──last call ends──> ended
 *
 * Every operation is O(1). An active row is never removed for room. When every row is active, a new program gets a row
 * outside the table (`removed`). It ends with the program's last call.
 */
export class ProcessTable {
  readonly #rows = new Map<ProgramId, Program>();
  /** The longest-idle row, and the latest to fall idle; undefined when none is. */
  oldestIdle: Program | undefined;
  newestIdle: Program | undefined;
  /** The idle rows up to and including this one are presumed to have ended. */
  #newestPresumed: Program | undefined;

  constructor(public programsMax: number) {}

  get size(): number {
    return this.#rows.size;
  }

  get(id: ProgramId): Program | undefined {
    return this.#rows.get(id);
  }

  rows(): IterableIterator<Program> {
    return this.#rows.values();
  }

  /** The longest-idle row that is not presumed to have ended. */
  get nextIdle(): Program | undefined {
    return this.#newestPresumed === undefined ? this.oldestIdle : this.#newestPresumed.newerIdle;
  }

  /** The row, returned by `nextIdle`, is presumed to have ended until it wakes. */
  presumeEnded(row: Program): void {
    row.isPresumedEnded = true;
    this.#newestPresumed = row;
  }

  /** Finds or makes the program's row. `evicted`: the idle row that made way for it. */
  admit(id: ProgramId, tenant: TenantId, nowMs: number): Admitted {
    const known = this.#rows.get(id);
    if (known !== undefined) return { row: known, evicted: undefined };
    const row = new Program(id, tenant, nowMs);
    const evicted = this.#rows.size >= this.programsMax ? this.oldestIdle : undefined;
    if (evicted !== undefined) this.remove(evicted, 'evicted');
    if (this.#rows.size < this.programsMax) this.#rows.set(id, row);
    else row.removed = 'evicted';
    return { row, evicted };
  }

  remove(row: Program, cause: ProgramGone['cause']): void {
    if (row.removed !== undefined) return;
    this.#rows.delete(row.id);
    this.#unlink(row);
    row.removed = cause;
  }

  wake(row: Program): void {
    this.#unlink(row);
    row.isPresumedEnded = false;
  }

  #unlink(row: Program): void {
    if (row.idleSinceMs === undefined) return;
    const { olderIdle, newerIdle } = row;
    if (this.#newestPresumed === row) this.#newestPresumed = olderIdle;
    if (olderIdle === undefined) this.oldestIdle = newerIdle;
    else olderIdle.newerIdle = newerIdle;
    if (newerIdle === undefined) this.newestIdle = olderIdle;
    else newerIdle.olderIdle = olderIdle;
    row.olderIdle = row.newerIdle = row.idleSinceMs = undefined;
  }

  /** The row's last active call has ended. Returns true when the program has ended as well. */
  rest(row: Program, nowMs: number): boolean {
    if (row.removed !== undefined) return true;
    row.idleSinceMs = nowMs;
    row.olderIdle = this.newestIdle;
    if (this.newestIdle === undefined) this.oldestIdle = row;
    else this.newestIdle.newerIdle = row;
    this.newestIdle = row;
    return false;
  }
}
