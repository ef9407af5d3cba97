import type { SchedulerConfig } from '../config.js';
import type { CallArrived } from '../protocol/events.js';
import { TimerHeap } from '../queues/timer-heap.js';
import type { Call } from './call.js';
import type { Program } from './process-table.js';

/** Ghosts of one program; the oldest gives way. More than a client has calls under way at once. */
const PROGRAM_MAX = 64;

/**
 * Calls that left the queue unserved and may be asked again: clients time out and retry. A ghost keeps its call's place
 * in the order for a grace time. It is never dispatched and counts in no limit.
 *
 *     waiting ──client hung up, queue timeout──> ghost ──same request again──> waiting, in its old place
 *                                                  └──grace over, program gone, too many──> forgotten
 *
 * All operations are O(log n) in ghosts, or O(ghosts of the program).
 */
export class Ghosts {
  /** Of each program, oldest first. */
  readonly #ofProgram = new Map<Program, Call[]>();
  readonly #graces = new TimerHeap<Call>();

  get size(): number {
    return this.#graces.size;
  }

  /** The call, which has ended, keeps its place. Of more than `queuedMax` in all the first to expire gives way. */
  keep(call: Call, { timeouts, limits }: SchedulerConfig, nowMs: number): void {
    const { program } = call;
    // Who calls under the id of a program that has ended is another program.
    if (timeouts.ghostMs === 0 || program.detached !== undefined) return;
    const ghosts = this.#ofProgram.get(program) ?? [];
    this.#ofProgram.set(program, ghosts);
    ghosts.push(call);
    this.#graces.set(call, nowMs + timeouts.ghostMs);
    if (ghosts.length > PROGRAM_MAX) this.#drop(ghosts[0] as Call);
    while (this.size > limits.queuedMax) this.#drop(this.#graces.peek() as Call);
  }

  /** The ghost whose place the arriving call of the program takes, which is then no more. */
  take(program: Program, { thread, model, request, retry }: CallArrived): Call | undefined {
    const ghosts = this.#ofProgram.get(program)?.filter((ghost) => ghost.thread === thread && ghost.model === model);
    const same = request === undefined ? undefined : ghosts?.find((ghost) => ghost.request === request);
    const ghost = same ?? (retry === true ? ghosts?.[0] : undefined);
    if (ghost !== undefined) this.#drop(ghost);
    return ghost;
  }

  /** Forgets those whose grace is over. */
  expire(nowMs: number): void {
    for (let ghost = this.#graces.peek(); ghost !== undefined && ghost.timerAtMs <= nowMs; ghost = this.#graces.peek())
      this.#drop(ghost);
  }

  /** The program is over. */
  forget(program: Program): void {
    for (const ghost of this.#ofProgram.get(program) ?? []) this.#graces.delete(ghost);
    this.#ofProgram.delete(program);
  }

  #drop(ghost: Call): void {
    this.#graces.delete(ghost);
    const rest = this.#ofProgram.get(ghost.program)?.filter((other) => other !== ghost) ?? [];
    if (rest.length === 0) this.#ofProgram.delete(ghost.program);
    else this.#ofProgram.set(ghost.program, rest);
  }
}
