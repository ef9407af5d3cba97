import { setTimeout as sleep } from 'node:timers/promises';
import type { CallId, EngineId, Millis } from '../../src/index.js';

/** An attempt that an engine failed or refused, in its words. */
export interface FailedAttempt {
  readonly engine: EngineId;
  readonly message: string;
  readonly fromMs: Millis;
  readonly atMs: Millis;
}

/** Work in progress that the gateway must end when it shuts down. */
export interface Active {
  /** Of a call. */
  readonly spec?: { readonly id: CallId; readonly requestId: string };
  readonly failures?: { readonly last: readonly FailedAttempt[]; readonly busySinceMs: number | undefined };
  /** Whether an engine works on it. */
  readonly isRunning: boolean;
  /** Ends the work because the gateway is shutting down: informs the client and releases the engine. */
  drainedAway(): void;
  place: number;
}

/** Interval of the looks whether none is left. Between two engines, a request that is passed through is not a member. */
const LOOK_MS = 20;

/** Calls and passed-through requests in progress. A Set would keep ended ones from the collector, see `Driver`. */
export class ActiveSet {
  readonly #members: Active[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Active): void {
    member.place = this.#members.push(member) - 1;
  }

  delete(member: Active): void {
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[member.place] = last;
      last.place = member.place;
    }
  }

  /** A call by its id, or that of its request, which its client may have chosen. */
  find(id: string): Active | undefined {
    return this.#members.find(({ spec }) => spec?.id === id || spec?.requestId === id);
  }

  /** Resolves when the set is empty, or after `ms` milliseconds. */
  async emptied(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#members.length > 0 && performance.now() < until) await sleep(LOOK_MS);
  }

  /** Waiting calls go first: the slots of running ones would be given to them. */
  drainAway(): void {
    const members = this.#members.toSorted((a, b) => Number(a.isRunning) - Number(b.isRunning));
    for (const member of members) member.drainedAway();
  }
}
