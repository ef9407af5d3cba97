import { BURST, type TenantPolicy } from './tenants.js';

/**
 * Agent Fair Share (SAGA, equation 8): engine time in proportion to urgency, the sum of (remaining work / time to the
 * deadline) over a tenant's programs.
 *
 *     factor = urgency / mean urgency, from 1 to 1 + burst
 *
 * The burst shrinks in overload, when not all deadlines can be met, and is gone at twice the capacity. Without the
 * lower bound, tenants with many programs would take the engines from those with few, which never ask for their share.
 */
export const afsTenants: TenantPolicy = {
  name: 'afs',
  readsUrgency: true,
  factor({ urgency, meanUrgency, load }) {
    const burst = BURST * Math.min(1, Math.max(0, 2 - load));
    return meanUrgency > 0 ? Math.min(1 + burst, Math.max(1, urgency / meanUrgency)) : 1;
  },
};
