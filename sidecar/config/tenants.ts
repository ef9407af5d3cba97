import { tenantId, type TenantId } from '../../src/index.js';
import type { Config } from './schema.js';

/** Tenant of every call when no API keys are configured. */
export const DEFAULT_TENANT = tenantId('default');

/** The tenants that may call, once for each of their keys. */
export const tenantsOf = ({ auth }: Pick<Config, 'auth'>): TenantId[] =>
  auth.keys.length === 0 ? [DEFAULT_TENANT] : auth.keys.map(({ tenant }) => tenantId(tenant));
