import type { Engine } from './engine.js';
import type { Key } from './fit-tree.js';
import type { Reason } from './events.js';
import type { Entry } from './lane.js';
import type { Program } from './program.js';
import type { Timed } from './timer-heap.js';
import type { CallId, ModelId } from './units.js';

/**
 * An active call: one thread of its program in Autellix's process table, with its own arrival, waiting and service time.
 *
 *     callArrived ──> waiting ──dispatch──> running ──callFinished / callCancelled / callFailed(lost)──> gone
 *                       ^  │                   │
 *                       │  └─reject, cancel──> gone
 *                       └──callFailed(busy | broken): back to its place, by its first `seq`
 *
 * The scheduler owns the record from `callArrived` until it is gone; it is in at most one queue.
 */
export class Call implements Key, Timed {
  state: 'waiting' | 'running' = 'waiting';

  // Its place in the queues (Key).
  level = 0;
  rank = 0;

  /** Its place among its program's active calls. */
  programIndex = -1;

  // Its place among the timers (Timed).
  heapIndex = -1;
  timerAtMs = 0;

  /** Start of the present wait, and all waiting before it. */
  queuedAtMs: number;
  waitedMs = 0;
  dispatchedAtMs = 0;
  /** Output seen so far of the present attempt. */
  outputTokens = 0;
  attempts = 0;
  retried = false;

  /** The program's attained service on arrival: the priority that the call inherits (ATLAS). */
  readonly service0Ms: number;
  /** The first that its program ever made. */
  readonly isFirst: boolean;
  /** First token of the present attempt. */
  startedAtMs: number | undefined;
  /** The program's starvation window on arrival, and which window that was. */
  readonly starvedOnArrivalMs: number;
  windowEpoch: number;
  /** Moved to the front by anti-starvation, and the waiting before it, which then counts no longer. */
  promoted = false;
  #forgivenMs = 0;
  /** Past `waitMsMax`. */
  overdue = false;

  /** Runs wherever there is room, whatever the balancer would say: overdue, or sent back by a full engine. */
  roams = false;
  /** The engine that broke it last. */
  avoid: Engine | undefined;
  /** The only engine that may run it while it waits; undefined: any that serves the model. */
  pinned: Engine | undefined;
  /** Waited long enough to leave its engine. */
  spillable = false;
  /** Has waited `reserveMs`: idle programs' caches must make way for it. */
  insistent = false;
  /** First tokens of its context that other programs' contexts begin with as well (`sharing.ts`). */
  sharedTokens = 0;
  /** What its context is expected to come to (`growth.ts`), and what it counts for that in a working set. */
  grownTokens = 0;
  heldTokens = 0;
  /** What it adds to the working set where it waits, and by which rule it is let in (see `lane.ts`). */
  extraTokens = 0;
  entry: Entry = 'patient';
  /** The engine that holds its room free. */
  reservedOn: Engine | undefined;
  /** The engine that runs it. */
  engine: Engine | undefined;

  constructor(
    readonly id: CallId,
    readonly seq: number,
    readonly program: Program,
    readonly thread: string,
    readonly model: ModelId,
    readonly promptTokens: number,
    /** Prompt and reserved output: what it takes of an engine's KV cache. */
    readonly needTokens: number,
    readonly prefix: readonly number[],
    readonly arrivedAtMs: number,
  ) {
    this.queuedAtMs = arrivedAtMs;
    this.service0Ms = program.serviceMs;
    this.isFirst = program.callsTotal === 0;
    this.starvedOnArrivalMs = program.starvedMs;
    this.windowEpoch = program.windowEpoch;
  }

  /** Why it is placed as it is, once it is. */
  get reason(): Reason {
    if (this.retried) return 'retried';
    if (this.promoted) return 'promoted';
    return this.waitedMs > 0 ? 'queued' : 'direct';
  }

  /** All its waiting up to `now`, W_c. */
  waitingMs(nowMs: number): number {
    return this.state === 'waiting' ? this.waitedMs + nowMs - this.queuedAtMs : this.waitedMs;
  }

  /** Waiting on its chain since its program's last promotion. */
  starvedMs(nowMs: number): number {
    return this.waitingMs(nowMs) + (this.promoted ? -this.#forgivenMs : this.starvedOnArrivalMs);
  }

  /** Its promotion: the starvation window starts anew. */
  forgive(nowMs: number): void {
    this.promoted = true;
    this.#forgivenMs = this.waitingMs(nowMs);
  }
}
