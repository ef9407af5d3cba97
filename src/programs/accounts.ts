import type { SchedulerConfig } from '../config.js';
import { tenantPolicyOf } from '../policies/by-name.js';
import { EPOCH_MS, type TenantPolicy } from '../policies/tenants.js';
import type { ModelId, TenantId } from '../protocol/units.js';
import { before } from '../queues/fit-tree.js';
import { Account, type Turned } from './account.js';

/** Time constant of the fading of attained engine time: tenants are compared over about the last minute. */
const MEMORY_MS = 60_000;
/** Calls over which the mean time of a call is taken. */
const CALLS_MEMORY = 64;
/** Attained engine time below which an account without calls is forgotten. */
const FORGOTTEN_MS = 1;

type Settings = Pick<SchedulerConfig['policy'], 'tenants' | 'tenantWeights'>;

interface Running {
  account: Account;
  readonly model: ModelId;
  readonly program: { readonly tenant: TenantId };
}

/** An active call, one of its program's. */
interface Active<Program> {
  readonly account: Account;
  readonly program: Program;
  readonly programIndex: number;
}

/** A tenant's engine time, for people and metrics. */
export interface TenantView {
  readonly tenant: TenantId;
  readonly weight: number;
  readonly waiting: number;
  readonly inFlight: number;
  /** Share of the engine time of about the last minute; 0 when there was none. */
  readonly attainedShare: number;
  /** Share that it is due among the tenants that have calls; undefined: it has none. */
  readonly dueShare: number | undefined;
}

/**
 * The tenants' accounts of engine time, and the order of their turns. The tenant goes first that has had the least:
 *
 *     turn = (attained + in flight x mean time of a call) / (weight x factor)
 *
 * Engine time is attained while calls run, and fades: d attained / dt = calls in flight - attained / memory. So a tenant
 * that was idle goes first until it has caught up with the others' last minute, and no longer. The second term is the
 * time that its calls in flight are expected still to take. Without it, slots that become free together would all go to
 * one tenant. This is weighted max-min over time, as with Virtual Token Counters (Sheng et al. 2024), but an idle tenant
 * keeps a credit of a minute where theirs keeps none.
 *
 * An overdue call of a tenant that has nothing in flight on its model precedes all turns: no weight starves a tenant.
 *
 * With `policy.tenants: none` all tenants share one account, so that no turn precedes another.
 */
export class Accounts {
  readonly #accounts = new Map<TenantId | undefined, Account>();
  #policy: TenantPolicy | undefined;
  #weights: Settings['tenantWeights'];
  #meanCallMs = 0;
  #callsKnown = 0;
  /** Attained times are as of `#atMs`. Since then `#left` of them is left, and each call in flight has added `#addedMs`. */
  #atMs = 0;
  #nowMs = 0;
  #left = 1;
  #addedMs = 0;
  #epoch = -Infinity;

  constructor({ tenants, tenantWeights }: Settings) {
    this.#policy = tenantPolicyOf(tenants);
    this.#weights = tenantWeights;
  }

  /** Applies new settings. Attained times are kept, unless tenants begin or cease to be told apart. */
  configure({ tenants, tenantWeights }: Settings, running: Iterable<Running>): void {
    const wereApart = this.#policy !== undefined;
    this.#policy = tenantPolicyOf(tenants);
    this.#weights = tenantWeights;
    this.#epoch = -Infinity;
    for (const account of this.#accounts.values()) {
      account.weight = this.#weightOf(account.tenant);
      account.factor = 1;
    }
    if (wereApart === (this.#policy !== undefined)) return;
    this.#accounts.clear();
    for (const call of running) {
      call.account = this.of(call.program.tenant);
      call.account.change(call.model, 1);
    }
  }

  /** The time of the step. */
  at(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#left = Math.exp((this.#atMs - nowMs) / MEMORY_MS);
    this.#addedMs = MEMORY_MS * (1 - this.#left);
  }

  of(tenant: TenantId): Account {
    const key = this.#policy === undefined ? undefined : tenant;
    let account = this.#accounts.get(key);
    if (account === undefined) this.#accounts.set(key, (account = new Account(key, this.#weightOf(key))));
    return account;
  }

  #weightOf(tenant: TenantId | undefined): number {
    return tenant !== undefined && Object.hasOwn(this.#weights, tenant) ? (this.#weights[tenant] ?? 1) : 1;
  }

  /** A call of the account has begun to run. */
  began({ account, model }: Pick<Running, 'account' | 'model'>): void {
    this.#settle();
    account.change(model, 1);
  }

  /** It no longer runs. */
  stopped({ account, model }: Pick<Running, 'account' | 'model'>): void {
    this.#settle();
    account.change(model, -1);
  }

  /** A call has left its engine for good, after this time there. */
  completed(callMs: number): void {
    this.#callsKnown = Math.min(this.#callsKnown + 1, CALLS_MEMORY);
    this.#meanCallMs += (callMs - this.#meanCallMs) / this.#callsKnown;
  }

  /** Brings all accounts up to now. Only in steps that change one, so that a driver's extra steps change nothing. */
  #settle(): void {
    if (this.#policy === undefined || this.#nowMs === this.#atMs) return;
    for (const [key, account] of this.#accounts) {
      account.attainedMs = this.#attainedMs(account);
      if (!account.isActive && account.attainedMs < FORGOTTEN_MS) this.#accounts.delete(key);
    }
    this.#atMs = this.#nowMs;
    this.at(this.#nowMs);
  }

  /**
   * Reads urgencies anew, at most once each epoch, as of the epoch's beginning. O(active calls).
   * @param urgencyOf engine time that the program needs each millisecond from that time on
   */
  reweigh<Program>(calls: Iterable<Active<Program>>, urgencyOf: (program: Program, atMs: number) => number): void {
    const policy = this.#policy;
    const epoch = Math.floor(this.#nowMs / EPOCH_MS);
    if (policy?.readsUrgency !== true || epoch === this.#epoch) return;
    this.#epoch = epoch;
    for (const account of this.#accounts.values()) account.urgency = 0;
    for (const { account, program, programIndex } of calls)
      if (programIndex === 0) account.urgency += urgencyOf(program, epoch * EPOCH_MS);
    const active = [...this.#accounts.values()].filter((account) => account.isActive);
    const sum = (of: (account: Account) => number): number => active.reduce((all, account) => all + of(account), 0);
    const meanUrgency = sum(({ weight, urgency }) => weight * urgency) / sum(({ weight }) => weight);
    const load = sum(({ urgency }) => urgency) / Math.max(1, sum(({ inFlight }) => inFlight));
    for (const account of this.#accounts.values())
      account.factor = account.isActive ? policy.factor({ urgency: account.urgency, meanUrgency, load }) : 1;
  }

  /** Whether call a precedes call b: by their turns, then in the policy's order. */
  before(a: Turned, b: Turned): boolean {
    if (a.account === b.account) return before(a, b);
    const [turnA, turnB] = [this.#turn(a), this.#turn(b)];
    return turnA === turnB ? before(a, b) : turnA < turnB;
  }

  firstOf<T extends Turned>(a: T | undefined, b: T | undefined): T | undefined {
    if (a === undefined) return b;
    return b !== undefined && this.before(b, a) ? b : a;
  }

  /** Whether some call of the account may precede this one. */
  mayPrecede(account: Account, call: Turned): boolean {
    return account.overdue > 0 || this.#turnOf(account) <= this.#turn(call);
  }

  #turn({ account, model, overdue }: Turned): number {
    return overdue && account.inFlightOf(model) === 0 ? -Infinity : this.#turnOf(account);
  }

  #turnOf(account: Account): number {
    return this.#usedMs(account) / account.claim;
  }

  /** Whether the account has had less than it is due among those with calls; false where tenants are not told apart. */
  isBehind(account: Account): boolean {
    let usedMs = 0;
    let claims = 0;
    for (const other of this.#accounts.values()) {
      if (!other.isActive) continue;
      usedMs += this.#usedMs(other);
      claims += other.claim;
    }
    return this.#usedMs(account) * claims < account.claim * usedMs;
  }

  /** Attained engine time, and that expected of its calls in flight. */
  #usedMs(account: Account): number {
    return this.#attainedMs(account) + account.inFlight * this.#meanCallMs;
  }

  #attainedMs({ attainedMs, inFlight }: Account): number {
    return attainedMs * this.#left + inFlight * this.#addedMs;
  }

  /** In order of arrival; none where tenants are not told apart. */
  views(): TenantView[] {
    const all = [...this.#accounts.values()];
    const attainedMs = all.reduce((sum, account) => sum + this.#attainedMs(account), 0);
    const claims = all.reduce((sum, account) => sum + (account.isActive ? account.claim : 0), 0);
    return all.flatMap((account) => {
      const { tenant, weight, waiting, inFlight, isActive, claim } = account;
      if (tenant === undefined) return [];
      const attainedShare = attainedMs === 0 ? 0 : this.#attainedMs(account) / attainedMs;
      return [{ tenant, weight, waiting, inFlight, attainedShare, dueShare: isActive ? claim / claims : undefined }];
    });
  }
}
