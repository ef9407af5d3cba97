import type { TenantId } from '../protocol/units.js';

/** Least rest: without it, one step could send a call back to the engine without end. */
const REST_MS_MIN = 1;
/** Longest rest by doubling: the engine may have room long before. */
const REST_MS_MAX = 8000;
/** Time between two turns of refused newcomers: four futile calls a second cost an engine nothing. */
const TURN_MS = 250;
/** Time without a refusal after which a call counts as accepted: engines refuse at once, and may answer late. */
const PROBE_MS = 1000;
/** Time for which an answer shows that an engine has room. */
const RECENT_MS = 5000;
/** Lead of those that go first after a rest. */
const MOMENT_MS = 1;
/** Age at which a rest that is over, and that no call has tried since, is forgotten. */
const FORGET_MS = 60_000;

/** Whose calls an engine refuses. Newcomers are programs that no engine has served. */
export type Scope = 'newcomers' | 'program' | 'tenant' | 'everyone';
interface Sender {
  readonly tenant: TenantId;
  readonly callsFinished: number;
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
  /** Rests since the engine last took a call of the party. */
  times: number;
}

/** Refusals of served programs since the engine last accepted a call. */
interface Streak {
  readonly sinceMs: number;
  readonly program: Sender;
  scope: 'program' | 'tenant' | 'everyone';
}

const isNewcomer = (party: Party): party is Sender => typeof party === 'object' && party.callsFinished === 0;
const partiesOf = (program: Sender): readonly Party[] => [program, program.tenant, EVERYONE];

/**
 * Rests of an engine that says "no room" (429, 503). It may be full, or it may limit one program, key or tenant, and its
 * answers do not tell which. So a rest holds no more than the refusals prove:
 *
 *     refused since the last accepted call    the rest holds
 *     newcomers, however many                 each of them: they prove nothing about the engine
 *     one served program                      that program
 *     several of one tenant                   that tenant
 *     of several tenants                      everyone: the engine is full
 *
 *     resting ──time──> over ──first call──> probing ──refused──> resting, twice as long, up to 8 s
 *                                               └──accepted, or 1 s without refusal──> none, nor inside the party
 *
 * One call of the party probes: of served programs that were not refused, if there are any. Refused newcomers take
 * turns, the longest refused first, until one is accepted; then all may go, until one is refused.
 * Times are as of the last `pass` or refusal. A refusal costs O(resting parties).
 */
export class Rests {
  /** In the order of their last refusals or turns. */
  readonly #rests = new Map<Party, Rest>();
  #streak: Streak | undefined;
  /** The refused newcomers that may go. */
  #turn: Sender | 'all' | undefined;
  #nextTurnMs = -Infinity;
  /** The program of the last accepted call, its time, and that of the last one of a served program. */
  #served: Sender | undefined;
  #servedAtMs = -Infinity;
  #provenAtMs = -Infinity;
  /** Until when the engine could not be reached. */
  #unreachedUntilMs = -Infinity;
  #nowMs = -Infinity;
  /** Earliest time at which `pass` may open something; Infinity when only events can. */
  nextMs = Infinity;

  /** Whether no call is or was held since all of them were accepted. */
  get isQuiet(): boolean {
    return this.#rests.size === 0 && this.#unreachedUntilMs <= this.#nowMs;
  }

  /** End of the rest that holds everyone. */
  get untilMs(): number {
    return Math.max(this.#unreachedUntilMs, this.#untilOf(EVERYONE));
  }

  /** End of the last rest that refusals caused. */
  get refusedUntilMs(): number {
    return [...this.#rests.values()].reduce((most, { untilMs }) => Math.max(most, untilMs), -Infinity);
  }

  /** When the program's calls may go next; undefined: they may go now. */
  untilOf(program: Sender): number | undefined {
    if (this.#rests.size === 0) return undefined;
    const own = this.#rests.get(program);
    const leadMs = own === undefined && !isNewcomer(program) ? 0 : MOMENT_MS;
    const everyoneMs = this.#untilOf(EVERYONE);
    // Until then no call asks: the engine takes none at all.
    const openMs = everyoneMs <= this.#nowMs ? everyoneMs : -Infinity;
    const widerMs = Math.max(this.#untilOf(program.tenant), openMs) + leadMs;
    const hasTurn = own === undefined || !isNewcomer(program) || this.#turn === 'all' || this.#turn === program;
    const untilMs = Math.max(widerMs, own?.untilMs ?? -Infinity, hasTurn ? -Infinity : this.#nextTurnMs);
    return untilMs > this.#nowMs ? untilMs : undefined;
  }

  #untilOf(party: Party): number {
    return this.#rests.get(party)?.untilMs ?? -Infinity;
  }

  /** Whether the engine has lately accepted a call that tells more of it than this one and those like it. */
  servesOthers({ program }: Sent, scope: Scope): boolean {
    if (scope === 'newcomers') return this.#nowMs - this.#provenAtMs < RECENT_MS;
    if (this.#served === undefined || this.#nowMs - this.#servedAtMs >= RECENT_MS) return false;
    return scope === 'program' ? this.#served !== program : this.#served.tenant !== program.tenant;
  }

  unreached(restMs: number, nowMs: number): void {
    this.#nowMs = nowMs;
    // Not `Math.max`: it would pass on NaN.
    this.#unreachedUntilMs = nowMs + (restMs > REST_MS_MIN ? restMs : REST_MS_MIN);
    this.#plan();
  }

  /** The engine refused the call. @param restMs the rest that it asked for. Returns whose calls it refuses. */
  refused(call: Sent, restMs: number, nowMs: number): Scope {
    this.#nowMs = nowMs;
    const leastMs = restMs > REST_MS_MIN ? restMs : REST_MS_MIN;
    const { program } = call;
    const isNew = isNewcomer(program);
    const scope = isNew ? this.#scopeOfNewcomer(program) : this.#scopeOf(program);
    this.#grow(program, call, leastMs);
    for (const party of [program.tenant, EVERYONE]) {
      const rest = this.#rests.get(party);
      const isMeant = scope === (party === EVERYONE ? 'everyone' : 'tenant');
      if (!isNew && (rest !== undefined || isMeant)) this.#grow(party, call, leastMs);
      // As a probe it proves nothing: another may go.
      else if (rest?.isProbing === true && call.dispatchedAtMs > rest.refusedAtMs)
        Object.assign(rest, { untilMs: nowMs, isProbing: false });
    }
    if (isNew && this.#turn === 'all') this.#nextTurnMs = nowMs + TURN_MS;
    if (isNew) this.#turn = undefined;
    this.#plan();
    return scope;
  }

  #scopeOfNewcomer(program: Sender): Scope {
    for (const party of this.#rests.keys()) if (party !== program && isNewcomer(party)) return 'newcomers';
    return 'program';
  }

  #scopeOf(program: Sender): Streak['scope'] {
    const streak = (this.#streak ??= { sinceMs: this.#nowMs, program, scope: 'program' });
    if (streak.program.tenant !== program.tenant) streak.scope = 'everyone';
    else if (streak.program !== program && streak.scope === 'program') streak.scope = 'tenant';
    return streak.scope;
  }

  #grow(party: Party, { dispatchedAtMs }: Sent, leastMs: number): void {
    const now = this.#nowMs;
    const rest = this.#rests.get(party);
    // A call that was in flight already tells nothing new, but the rest that it asks for.
    if (rest !== undefined && dispatchedAtMs <= rest.refusedAtMs) rest.untilMs = Math.max(rest.untilMs, now + leastMs);
    else {
      const times = rest?.times ?? 0;
      const restMs = Math.max(leastMs, Math.min(REST_MS_MAX, leastMs * (1 << Math.min(times, 16))));
      this.#moveBack(party, { untilMs: now + restMs, isProbing: false, refusedAtMs: now, times: times + 1 });
    }
  }

  #moveBack(party: Party, rest: Rest): void {
    this.#rests.delete(party);
    this.#rests.set(party, rest);
  }

  /** A call goes to the engine: it is the probe of its party's rests that are over. */
  dispatched({ program }: Sent, nowMs: number): void {
    if (this.#rests.size === 0) return;
    for (const party of partiesOf(program)) {
      const rest = this.#rests.get(party);
      if (rest !== undefined && rest.untilMs <= nowMs)
        Object.assign(rest, { untilMs: nowMs + PROBE_MS, isProbing: true });
    }
    this.#plan();
  }

  /** The engine answers the call. Returns whether a rest is over. */
  accepted({ program, dispatchedAtMs }: Sent, nowMs: number): boolean {
    this.#served = program;
    this.#servedAtMs = nowMs;
    if (!isNewcomer(program)) this.#provenAtMs = nowMs;
    if (this.#streak !== undefined && dispatchedAtMs >= this.#streak.sinceMs) this.#streak = undefined;
    if (this.#rests.size === 0) return false;
    let isOver = false;
    for (const party of partiesOf(program)) {
      const rest = this.#rests.get(party);
      if (rest === undefined) continue;
      // Calls get done there, so room may come soon.
      rest.times = Math.min(rest.times, 1);
      if (dispatchedAtMs <= rest.refusedAtMs) continue;
      this.#end(party);
      isOver = true;
    }
    this.#plan();
    return isOver;
  }

  /** The party's rest is over, with those inside the party: they were refused for the same reason. */
  #end(party: Party): void {
    if (isNewcomer(party)) this.#turn = 'all';
    for (const other of this.#rests.keys())
      if (other === party || party === EVERYONE || (typeof other === 'object' && other.tenant === party))
        this.#rests.delete(other);
  }

  /** Lets time pass. Returns whether a rest has ended. */
  pass(nowMs: number): boolean {
    this.#nowMs = nowMs;
    if (nowMs < this.nextMs) return false;
    for (const [party, { untilMs, isProbing }] of this.#rests) {
      if (untilMs > nowMs) continue;
      if (isProbing) {
        // Not refused in time: the engine takes the party's calls again.
        this.#end(party);
        this.#streak = undefined;
      } else if (untilMs <= nowMs - FORGET_MS || (isNewcomer(party) && party.waiting === 0)) this.#rests.delete(party);
    }
    if (this.#turn !== 'all' && nowMs >= this.#nextTurnMs) this.#giveTurn();
    this.#plan();
    return true;
  }

  #giveTurn(): void {
    this.#turn = undefined;
    for (const [party, rest] of this.#rests) {
      if (!isNewcomer(party) || rest.untilMs > this.#nowMs) continue;
      this.#turn = party;
      this.#nextTurnMs = this.#nowMs + TURN_MS;
      this.#moveBack(party, rest);
      return;
    }
  }

  forget(program: Sender): void {
    this.#rests.delete(program);
    if (this.#served === program) this.#served = undefined;
    if (this.#streak?.program === program) this.#streak = undefined;
    if (this.#turn === program) this.#turn = undefined;
  }

  #plan(): void {
    this.nextMs = this.#unreachedUntilMs > this.#nowMs ? this.#unreachedUntilMs : Infinity;
    for (const [party, { untilMs }] of this.#rests) {
      const turnMs = isNewcomer(party) && this.#turn !== 'all' ? this.#nextTurnMs : -Infinity;
      for (const atMs of [untilMs, untilMs + MOMENT_MS, untilMs + FORGET_MS, turnMs])
        if (atMs > this.#nowMs && atMs < this.nextMs) this.nextMs = atMs;
    }
  }
}
