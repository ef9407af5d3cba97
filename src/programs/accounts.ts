import type { SchedulerConfig } from '../config.js';
import type { ModelId, TenantId } from '../protocol/units.js';
import { before } from '../queues/fit-tree.js';
import { Account, type Turn, type Turned } from './account.js';

/** Time constant of the fading of attained engine time: tenants are compared over about the last minute. */
const MEMORY_MS = 60_000;
const CALLS_MEMORY = 64;
/** Part of its due share below which a tenant is behind. At 1 programs take 6 to 9 % longer (lab/NOTEBOOK.md). */
const BEHIND_SHARE = 0.8;
/** Attained engine time below which an account without calls is forgotten. */
const FORGOTTEN_MS = 1;

type Settings = Pick<SchedulerConfig, 'policy' | 'starvation'>;

interface Owned {
  turn: Turn;
  readonly model: ModelId;
  readonly program: { readonly tenant: TenantId };
  readonly isBackground?: boolean;
}

export type TenantView = Readonly<NonNullable<ReturnType<Accounts['viewOf']>>>;

/**
 * The tenants' accounts of engine time, and the order of their turns. The tenant goes first that has had the least:
 *
 *     place = (attained + in flight x mean time of a call) / weight
 *
 * Engine time is attained while calls run, and fades: d attained / dt = calls in flight - attained / memory. So a tenant
 * that was idle goes first until it has caught up with the others' last minute. Without the second term, slots that become
 * free together would all go to one tenant. This is weighted max-min over time, as with Virtual Token Counters (Sheng et
 * al. 2024), but an idle tenant keeps a credit of a minute where theirs keeps none.
 *
 * No weight starves a tenant: with an overdue call for a model and none run in `starvation.waitMsMax`, it goes first.
 *
 * With `policy.tenants: none` all tenants share one account, so that no turn precedes another. Background calls share
 * one in any case, which comes last and counts for nobody.
 */
export class Accounts {
  readonly #accounts = new Map<TenantId | undefined, Account>();
  readonly #background = new Account(undefined, 1);
  #meanCallMs = 0;
  #callsKnown = 0;
  /** Attained times are as of `#atMs`. Since then `#left` of them is left, and each call in flight has added `#addedMs`. */
  #atMs = 0;
  #nowMs = 0;
  #left = 1;
  #addedMs = 0;
  /** Counts the changes that may move a place. */
  #stamp = 0;

  constructor(private settings: Settings) {}

  get areApart(): boolean {
    return this.settings.policy.tenants !== 'none';
  }

  /** Applies new settings. Attained times are kept, unless tenants begin or cease to be told apart. */
  configure(settings: Settings, running: Iterable<Owned>): void {
    const wereApart = this.areApart;
    this.settings = settings;
    for (const account of this.#accounts.values()) account.weight = this.#weightOf(account.tenant);
    this.#stamp += 1;
    if (wereApart === this.areApart) return;
    this.#accounts.clear();
    this.#atMs = this.#nowMs;
    this.at(this.#nowMs);
    for (const call of running) {
      call.turn = this.turnOf(call);
      call.turn.runs(1, this.#nowMs);
    }
  }

  at(nowMs: number): void {
    this.#nowMs = nowMs;
    if (!this.areApart) return;
    this.#stamp += 1;
    this.#left = Math.exp((this.#atMs - nowMs) / MEMORY_MS);
    this.#addedMs = MEMORY_MS * (1 - this.#left);
  }

  get backgroundWaiting(): number {
    return this.#background.waiting;
  }

  turnOf({ program, model, isBackground }: Omit<Owned, 'turn'>): Turn {
    if (isBackground) return this.#background.turnFor(model);
    const key = this.areApart ? program.tenant : undefined;
    let account = this.#accounts.get(key);
    if (account === undefined) this.#accounts.set(key, (account = new Account(key, this.#weightOf(key))));
    return account.turnFor(model);
  }

  #weightOf(tenant: TenantId | undefined): number {
    const { tenantWeights } = this.settings.policy;
    return tenant !== undefined && Object.hasOwn(tenantWeights, tenant) ? (tenantWeights[tenant] ?? 1) : 1;
  }

  /** One of the turn's calls begins or stops. */
  runs(turn: Turn, change: 1 | -1): void {
    this.#settle(turn);
    turn.runs(change, this.#nowMs);
    this.#stamp += 1;
  }

  /** A call has left its engine for good, after this time there. */
  completed(callMs: number): void {
    this.#callsKnown = Math.min(this.#callsKnown + 1, CALLS_MEMORY);
    this.#meanCallMs += (callMs - this.#meanCallMs) / this.#callsKnown;
    this.#stamp += 1;
  }

  /**
   * Brings all accounts up to now, and forgets those without calls or engine time. Only when a call begins or stops, so
   * that a driver's extra steps change nothing.
   * @param turn the call's turn; its account may be between waiting and running
   */
  #settle(turn: Turn): void {
    if (!this.areApart || this.#nowMs === this.#atMs) return;
    for (const [key, account] of this.#accounts) {
      account.attainedMs = this.#attainedMs(account);
      if (account !== turn.account && !account.isActive && account.attainedMs < FORGOTTEN_MS)
        this.#accounts.delete(key);
    }
    this.#atMs = this.#nowMs;
    this.at(this.#nowMs);
  }

  /** Whether call a precedes call b: by their turns, then in the policy's order. */
  before(a: Turned, b: Turned): boolean {
    if (a.turn === b.turn) return before(a, b);
    const [placeA, placeB] = [this.#placeOf(a.turn), this.#placeOf(b.turn)];
    return placeA === placeB ? before(a, b) : placeA < placeB;
  }

  firstOf<T extends Turned>(a: T | undefined, b: T | undefined): T | undefined {
    if (a === undefined) return b;
    return b !== undefined && this.before(b, a) ? b : a;
  }

  firstAmong<T extends Turned>(calls: readonly (T | undefined)[]): T | undefined {
    return calls.reduce<T | undefined>((first, call) => this.firstOf(first, call), undefined);
  }

  /** Whether calls of one turn may precede those of the other. */
  mayPrecede(a: Turn, b: Turn): boolean {
    return this.#placeOf(a) <= this.#placeOf(b);
  }

  #placeOf(turn: Turn): number {
    if (turn.placeStamp === this.#stamp) return turn.place;
    const sinceMs = this.#nowMs - this.settings.starvation.waitMsMax;
    turn.placeStamp = this.#stamp;
    if (turn.account === this.#background) return (turn.place = Infinity);
    turn.place = turn.isStarving(sinceMs) ? -Infinity : this.#usedMs(turn.account) / turn.account.weight;
    return turn.place;
  }

  /** Whether its tenant has had clearly less than it is due among those with calls. */
  isBehind({ account }: Turn): boolean {
    if (!this.areApart || account === this.#background) return false;
    let usedMs = 0;
    let weights = 0;
    for (const other of this.#accounts.values()) {
      if (!other.isActive) continue;
      usedMs += this.#usedMs(other);
      weights += other.weight;
    }
    return this.#usedMs(account) * weights < BEHIND_SHARE * account.weight * usedMs;
  }

  /** Attained engine time, and that expected of its calls in flight. */
  #usedMs(account: Account): number {
    return this.#attainedMs(account) + account.inFlight * this.#meanCallMs;
  }

  #attainedMs({ attainedMs, inFlight }: Account): number {
    return attainedMs * this.#left + inFlight * this.#addedMs;
  }

  /** In order of arrival; none where tenants are not told apart. O(tenants). */
  views(): TenantView[] {
    const sums = this.#sums();
    return [...this.#accounts.values()].flatMap((account) => this.viewOf(account, sums) ?? []);
  }

  /** Undefined where tenants are not told apart. O(tenants). */
  viewOf(account: Account, { attainedMs, weights } = this.#sums()) {
    // Of waiting calls and calls in flight, those of all models.
    const { tenant, weight, waiting, inFlight, isActive } = account;
    if (tenant === undefined) return undefined;
    /** Share of the engine time of about the last minute; 0 when there was none. */
    const attainedShare = attainedMs === 0 ? 0 : this.#attainedMs(account) / attainedMs;
    /** Share that it is due among the tenants that have calls; undefined: it has none. */
    const dueShare = isActive ? weight / weights : undefined;
    return { tenant, weight, waiting, inFlight, attainedShare, dueShare };
  }

  /** Engine time that all tenants have had, and the weights of those that have calls. */
  #sums(): { readonly attainedMs: number; readonly weights: number } {
    let attainedMs = 0;
    let weights = 0;
    for (const account of this.#accounts.values()) {
      attainedMs += this.#attainedMs(account);
      if (account.isActive) weights += account.weight;
    }
    return { attainedMs, weights };
  }
}
