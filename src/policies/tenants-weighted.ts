import type { TenantPolicy } from './tenants.js';

/** Weighted max-min: engine time in proportion to weights; what a tenant does not use goes to the others. */
export const weightedTenants: TenantPolicy = { name: 'weighted', readsUrgency: false, factor: () => 1 };
