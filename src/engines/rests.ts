import type { TenantId } from '../protocol/units.js';

/** Least rest: without it, one step could send a call back to the engine without end. */
const REST_MS_MIN = 1;
/** Longest rest by doubling: the engine may have room long before. */
const REST_MS_MAX = 8000;
/** Time without a refusal after which a call counts as accepted: engines refuse at once, and may answer late. */
const PROBE_MS = 1000;
/** Time for which an answer to others shows that an engine has room. */
const RECENT_MS = 5000;
/** Lead of those that go first after a rest. */
const MOMENT_MS = 1;
/** Age at which a rest that is over, and that no call has tried since, is forgotten. */
const FORGET_MS = 60_000;

/** Whose calls an engine refuses: those of one program, of several of one tenant, or of several tenants. */
export type Scope = 'program' | 'tenant' | 'everyone';
/** A program, as far as rests are concerned. */
interface Sender {
  readonly tenant: TenantId;
  /** Undefined: no engine has served it. */
  readonly lastCompletionAtMs: number | undefined;
  /** Number of its waiting calls. */
  readonly waiting: number;
}
interface Sent {
  readonly program: Sender;
  readonly dispatchedAtMs: number;
}

const EVERYONE = undefined;
type Party = Sender | TenantId | typeof EVERYONE;

interface Rest {
  untilMs: number;
  /** Whether a call of the party is there since the rest ended. Until its outcome, at most to `untilMs`, no other goes. */
  isProbing: boolean;
  refusedAtMs: number;
  /** Rests since the engine served the party; 0: its own calls only go after those of others. */
  times: number;
}

/** Refusals since the engine last accepted a call. */
interface Streak {
  readonly sinceMs: number;
  readonly program: Sender;
  scope: Scope;
}

/**
 * Rests of an engine that says "no room" (429, 503). It may be full, or it may limit one program, key or tenant, and its
 * answers do not tell which. So a rest holds the smallest party to which all refusals since the last accepted call
 * belong, and others' calls are the test:
 *
 *     refused since the last accepted call    the rest holds
 *     calls of one program                    that program
 *     of several programs of one tenant       that tenant
 *     of several tenants                      everyone: the engine is full
 *
 * After a rest one call of the party goes, the probe. Programs and tenants that were not refused go first, and of a tenant
 * programs that engines have served: the others are held a moment longer. If the probe is accepted, the rest is over; if it is refused, the
 * next rest is twice as long, up to 8 s. Times are as of the last `pass` or refusal.
 */
export class Rests {
  readonly #rests = new Map<Party, Rest>();
  #streak: Streak | undefined;
  /** The program of the last accepted call, and its time. */
  #served: Sender | undefined;
  #servedAtMs = -Infinity;
  /** Until when the engine could not be reached. */
  #unreachedUntilMs = -Infinity;
  #nowMs = -Infinity;
  #nextMs = Infinity;

  /** Whether no call is or was held since all of them were accepted. */
  get isQuiet(): boolean {
    return this.#rests.size === 0 && this.#unreachedUntilMs <= this.#nowMs;
  }

  /** End of the rest that holds everyone. */
  get untilMs(): number {
    return Math.max(this.#unreachedUntilMs, this.#rests.get(EVERYONE)?.untilMs ?? -Infinity);
  }

  /** Earliest time at which `pass` may open something; Infinity when only events can. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** When the rest that holds the program's calls alone ends; undefined: none does. */
  untilOf(program: Sender): number | undefined {
    if (this.#rests.size === 0) return undefined;
    const isServed = program.lastCompletionAtMs !== undefined;
    const ofTenant = (this.#rests.get(program.tenant)?.untilMs ?? -Infinity) + (isServed ? 0 : MOMENT_MS);
    const untilMs = Math.max(ofTenant, this.#rests.get(program)?.untilMs ?? -Infinity);
    return untilMs > this.#nowMs ? untilMs : undefined;
  }

  /** Whether one rest holds all of these waiting calls. @param waiting number of calls of a program or of a tenant */
  holdsAll(waiting: (party: Sender | TenantId) => number, all: number): boolean {
    for (const [party, { untilMs }] of this.#rests)
      if (party !== EVERYONE && untilMs > this.#nowMs && waiting(party) === all) return true;
    return false;
  }

  /** Whether the engine has lately accepted a call from outside the scope of this one. */
  servesOthers({ program }: Sent, scope: Scope): boolean {
    if (this.#served === undefined || this.#nowMs - this.#servedAtMs >= RECENT_MS) return false;
    return scope === 'program' ? this.#served !== program : this.#served.tenant !== program.tenant;
  }

  /** The engine could not be reached. */
  unreached(restMs: number, nowMs: number): void {
    this.#nowMs = nowMs;
    // Not `Math.max`: it would pass on NaN.
    this.#unreachedUntilMs = nowMs + (restMs > REST_MS_MIN ? restMs : REST_MS_MIN);
    this.#plan();
  }

  /** The engine refused the call. @param restMs the rest that it asked for. Returns the scope of the refusals. */
  refused(call: Sent, restMs: number, nowMs: number): Scope {
    this.#nowMs = nowMs;
    for (const [party, { untilMs }] of this.#rests) if (untilMs < nowMs - FORGET_MS) this.#rests.delete(party);
    const { program } = call;
    const { tenant } = program;
    this.#streak ??= { sinceMs: nowMs, program, scope: 'program' };
    const { scope } = this.#widen(this.#streak, program);
    const leastMs = restMs > REST_MS_MIN ? restMs : REST_MS_MIN;
    const held: Party = { program, tenant, everyone: EVERYONE }[scope];
    for (const party of [program, tenant, EVERYONE])
      if (party === held || (this.#rests.get(party)?.times ?? 0) > 0) this.#grow(party, call, leastMs);
    if (scope !== 'program') this.#giveWay(program, scope, leastMs);
    this.#plan();
    return scope;
  }

  #widen(streak: Streak, program: Sender): Streak {
    if (streak.program.tenant !== program.tenant) streak.scope = 'everyone';
    else if (streak.program !== program && streak.scope === 'program') streak.scope = 'tenant';
    return streak;
  }

  #of(party: Party): Rest {
    let rest = this.#rests.get(party);
    if (rest === undefined)
      this.#rests.set(party, (rest = { untilMs: -Infinity, isProbing: false, refusedAtMs: -Infinity, times: 0 }));
    return rest;
  }

  #grow(party: Party, { dispatchedAtMs }: Sent, restMs: number): void {
    const rest = this.#of(party);
    // A call that was in flight already tells nothing new.
    if (rest.times > 0 && dispatchedAtMs <= rest.refusedAtMs) return;
    rest.untilMs = this.#nowMs + Math.max(restMs, Math.min(REST_MS_MAX, restMs * (1 << Math.min(rest.times, 16))));
    rest.isProbing = false;
    rest.refusedAtMs = this.#nowMs;
    rest.times += 1;
  }

  /** Lets calls that were not refused go first after the wider rest. */
  #giveWay(program: Sender, scope: 'tenant' | 'everyone', leastMs: number): void {
    const { tenant } = program;
    const untilMs = this.#rests.get(scope === 'tenant' ? tenant : EVERYONE)?.untilMs ?? 0;
    const own = this.#of(program);
    own.untilMs = Math.max(own.untilMs, this.#nowMs + leastMs);
    own.refusedAtMs = this.#nowMs;
    if (scope === 'everyone') this.#of(tenant);
    for (const [party, rest] of this.#rests) {
      const isTenant = typeof party === 'string';
      const isInside = scope === 'everyone' ? party !== EVERYONE : typeof party === 'object' && party.tenant === tenant;
      if (isInside) rest.untilMs = Math.max(rest.untilMs, untilMs + (isTenant ? 1 : 2) * MOMENT_MS);
    }
  }

  /** A call goes to the engine: it is the probe of its party's rests that are over. */
  dispatched({ program }: Sent, nowMs: number): void {
    if (this.#rests.size === 0) return;
    for (const party of [program, program.tenant, EVERYONE]) {
      const rest = this.#rests.get(party);
      if (rest === undefined || rest.untilMs > nowMs) continue;
      if (rest.times === 0) this.#rests.delete(party);
      else {
        rest.isProbing = true;
        rest.untilMs = nowMs + PROBE_MS;
      }
    }
    this.#plan();
  }

  /** The engine answers the call. Returns whether a rest is over. */
  accepted({ program, dispatchedAtMs }: Sent, nowMs: number): boolean {
    this.#served = program;
    this.#servedAtMs = nowMs;
    if (this.#streak !== undefined && dispatchedAtMs >= this.#streak.sinceMs) this.#streak = undefined;
    if (this.#rests.size === 0) return false;
    let isOver = false;
    for (const party of [program, program.tenant, EVERYONE]) {
      const rest = this.#rests.get(party);
      if (rest === undefined) continue;
      rest.times = Math.min(rest.times, 1);
      if (dispatchedAtMs > rest.refusedAtMs) isOver = this.#rests.delete(party);
    }
    this.#plan();
    return isOver;
  }

  /** Lets time pass. Returns whether a rest has ended. */
  pass(nowMs: number): boolean {
    this.#nowMs = nowMs;
    if (nowMs < this.#nextMs) return false;
    for (const [party, { untilMs, isProbing, times }] of this.#rests) {
      if (untilMs > nowMs || (!isProbing && times > 0)) continue;
      this.#rests.delete(party);
      // Not refused in time: the engine takes the party's calls again.
      if (isProbing) this.#streak = undefined;
    }
    this.#plan();
    return true;
  }

  forget(program: Sender): void {
    this.#rests.delete(program);
    if (this.#served === program) this.#served = undefined;
    if (this.#streak?.program === program) this.#streak = undefined;
  }

  #plan(): void {
    this.#nextMs = this.#unreachedUntilMs > this.#nowMs ? this.#unreachedUntilMs : Infinity;
    for (const { untilMs } of this.#rests.values())
      for (const atMs of [untilMs, untilMs + MOMENT_MS])
        if (atMs > this.#nowMs && atMs < this.#nextMs) this.#nextMs = atMs;
  }
}
