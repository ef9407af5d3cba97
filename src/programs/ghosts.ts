import type { SchedulerConfig } from '../config.js';
import type { CallArrived } from '../protocol/events.js';
import type { TenantId } from '../protocol/units.js';
import { Timers } from '../queues/timers.js';
import type { Call } from './call.js';
import type { Program } from './process-table.js';

/** Upper bound on ghosts of one program; beyond it the oldest is dropped. */
const PROGRAM_MAX = 64;

/**
 * Calls that left the queue unserved and may be repeated: clients time out and retry. A ghost keeps its call's place in
 * the order for `timeouts.ghostMs`. It is never dispatched and counts in no limit.
 *
 *     waiting ──client hung up, queue timeout──> ghost ──same request again──> waiting, in its old place
 *                                                  └──grace over, program gone, too many──> forgotten
 *
 * All operations are O(log n) in ghosts, or O(ghosts of the program).
 */
export class Ghosts {
  /** Each program's ghosts, and each tenant's, oldest first. */
  readonly #ofProgram = new Map<Program, Call[]>();
  readonly #ofTenant = new Map<TenantId, Set<Call>>();
  readonly #graces = new Timers<Call>();

  get size(): number {
    return this.#graces.size;
  }

  /** Keeps an ended call's place. Beyond `limits.queuedMax`, the oldest of a tenant with a large share is dropped. */
  keep(call: Call, { timeouts, limits }: SchedulerConfig, nowMs: number): void {
    const { program } = call;
    // A later call with the id of an ended program belongs to a new program.
    if (timeouts.ghostMs === 0 || program.removed !== undefined) return;
    const ghosts = this.#ofProgram.get(program) ?? [];
    this.#ofProgram.set(program, ghosts);
    ghosts.push(call);
    const own = this.#ofTenant.get(program.tenant) ?? new Set();
    this.#ofTenant.set(program.tenant, own.add(call));
    this.#graces.set(call, nowMs + timeouts.ghostMs);
    if (ghosts.length > PROGRAM_MAX) this.#drop(ghosts[0] as Call);
    while (this.size > limits.queuedMax) this.#drop(this.#oldestOfLargeShare(own));
  }

  /** Removes and returns the ghost whose place the arriving call takes over, if there is one. */
  take(program: Program, { thread, model, request, retry }: CallArrived): Call | undefined {
    const ghosts = this.#ofProgram.get(program)?.filter((ghost) => ghost.thread === thread && ghost.model === model);
    const same = request === undefined ? undefined : ghosts?.find((ghost) => ghost.request === request);
    const ghost = same ?? (retry === true ? ghosts?.[0] : undefined);
    if (ghost !== undefined) this.#drop(ghost);
    return ghost;
  }

  expire(nowMs: number): void {
    for (let ghost = this.#graces.peek(); ghost !== undefined && ghost.timerAtMs <= nowMs; ghost = this.#graces.peek())
      this.#drop(ghost);
  }

  forget(program: Program): void {
    for (const ghost of this.#ofProgram.get(program) ?? []) this.#drop(ghost);
  }

  #oldestOfLargeShare(own: Set<Call>): Call {
    let share = own;
    if (own.size * this.#ofTenant.size < this.size)
      for (const other of this.#ofTenant.values()) if (other.size > share.size) share = other;
    const [oldest] = share;
    return oldest as Call;
  }

  #drop(ghost: Call): void {
    this.#graces.set(ghost, Infinity);
    const own = this.#ofTenant.get(ghost.program.tenant);
    own?.delete(ghost);
    if (own?.size === 0) this.#ofTenant.delete(ghost.program.tenant);
    const rest = this.#ofProgram.get(ghost.program)?.filter((other) => other !== ghost) ?? [];
    if (rest.length === 0) this.#ofProgram.delete(ghost.program);
    else this.#ofProgram.set(ghost.program, rest);
  }
}
