/** Claim of a tenant with calls in the system, and of all such tenants together. */
export interface Claim {
  /** Engine time that the tenant's programs need each millisecond to meet their deadlines. */
  readonly urgency: number;
  /** Mean urgency of the tenants, by weight; and their urgencies together over the calls in flight, the capacity in use. */
  readonly meanUrgency: number;
  readonly load: number;
}

/**
 * Answers the question "how is engine time divided among tenants?". It stands above the policy, which orders the calls
 * of one tenant. Each tenant is due engine time in proportion to its weight times `factor`. Stateless.
 *
 * test/conformance/tenants.test.ts holds every such policy to four promises. A factor lies between 1 and 1 + `BURST`, so
 * that no claim takes more from another tenant. More urgency never lowers it. Equal claims have equal factors, whatever
 * unit they are in. At twice the capacity all factors are 1, so that only weights decide.
 */
export interface TenantPolicy {
  readonly name: string;
  /** Whether it needs urgencies, which cost a look at every active program each `EPOCH_MS`. */
  readonly readsUrgency: boolean;
  factor(claim: Claim): number;
}

/** Upper bound on a share beyond that by weight, as a part of it. */
export const BURST = 0.5;
/** Time between two readings of urgencies (SAGA, 6.2). */
export const EPOCH_MS = 100;
