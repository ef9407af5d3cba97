import type { z } from 'zod';
import { queueMsLeast } from '../../src/index.js';
import { SELF, idOf, isSelf } from '../engines/address.js';
import { labelOf } from './engines.js';
import { configKeys, tenantsOf, type Config } from './schema.js';

/** A configuration is complete and without contradictions. */
export const configSchema = configKeys.superRefine(checkConsistency);

/** Contradictions between keys, which no single key's range can catch; each with the path of the key to change. */
function checkConsistency(config: Config, context: z.core.$RefinementCtx): void {
  const report = (path: (string | number)[], message: string) => {
    context.addIssue({ code: 'custom', path, message });
  };
  const atMost = (
    section: 'admission' | 'limits' | 'health',
    key: string,
    value: number,
    limitKey: string,
    limit: number,
  ) => {
    if (value > limit) report([section, key], `must be at most ${section}.${limitKey}, which is ${limit}`);
  };
  const { policy, starvation, admission, limits, health, timeouts, listen, admin, auth, cluster } = config;
  atMost('admission', 'windowMin', admission.windowMin, 'windowMax', admission.windowMax);
  atMost('admission', 'windowMin', admission.windowMin, 'windowInitial', admission.windowInitial);
  atMost('admission', 'windowInitial', admission.windowInitial, 'windowMax', admission.windowMax);
  atMost('limits', 'queuedPerTenantMax', limits.queuedPerTenantMax, 'queuedMax', limits.queuedMax);
  atMost('health', 'backoffMs', health.backoffMs, 'backoffMsMax', health.backoffMsMax);
  const least = queueMsLeast(config);
  if (timeouts.queueMs < least) {
    const { waitMsMax } = starvation;
    const { reserveMs, turnMs } = admission;
    const longer = waitMsMax < reserveMs ? `admission.reserveMs (${reserveMs})` : `starvation.waitMsMax (${waitMsMax})`;
    report(
      ['timeouts', 'queueMs'],
      `must be at least ${least}, ${longer} and admission.turnMs (${turnMs}) together: raise it or lower these`,
    );
  }
  // A program with a waiting or running call keeps its row, so there must be more rows than such calls.
  if (limits.programsMax < 2 * limits.queuedMax)
    report(['limits', 'programsMax'], `must be at least twice limits.queuedMax, which is ${limits.queuedMax}`);
  if (admin.port !== null && admin.port !== 0 && admin.port === listen.port && admin.host === listen.host)
    report(['admin', 'port'], 'must differ from listen.port; null shares the main listener');
  reportTwice(config.engines.map(idOf), (index, id) => {
    report(['engines', index, 'id'], `"${id}" is the id of an earlier engine; ids must differ`);
  });
  config.engines.forEach((engine, index) => {
    if (isSelf(engine, listen) || isSelf(engine, admin)) report(['engines', index, 'url'], SELF);
  });
  checkSources(config, report);
  if (cluster.url !== null && config.embedded > 0)
    report(['cluster', 'url'], 'must be null with embedded engines, which other gateways do not have');
  if (cluster.url !== null && config.batches.folder !== null && cluster.address === null)
    report(['cluster', 'address'], 'is needed with batches.folder: the gateway that runs the batches is asked there');
  if (cluster.caFile !== null && cluster.url?.startsWith('rediss:') !== true)
    report(['cluster', 'caFile'], 'has an effect only where cluster.url begins with rediss://');
  if (cluster.leaseMs < 3 * cluster.heartbeatMs)
    report(['cluster', 'leaseMs'], `must be at least ${3 * cluster.heartbeatMs}, three times cluster.heartbeatMs`);
  reportTwice(
    auth.keys.map((key) => key.sha256),
    (index) => report(['auth', 'keys', index, 'sha256'], 'is the hash of an earlier key'),
  );
  const tenants = new Set<string>(tenantsOf(config));
  for (const tenant of Object.keys(policy.tenantWeights))
    if (!tenants.has(tenant))
      report(['policy', 'tenantWeights', tenant], 'has no key in auth.keys, so the weight would have no effect');
  for (const tenant of Object.keys(config.budget.tenants))
    if (!tenants.has(tenant))
      report(['budget', 'tenants', tenant], 'has no key in auth.keys, so the budget would have no effect');
  reportTwice(config.identity.sources, (index) => report(['identity', 'sources', index], 'is named twice'));
}

function checkSources({ discovery }: Config, report: (path: (string | number)[], message: string) => void): void {
  discovery.forEach(({ dns }, index) => {
    if ((dns.type === 'SRV') === (dns.port !== undefined))
      report(
        ['discovery', index, 'dns', 'port'],
        dns.type === 'SRV' ? 'must be absent, because SRV records have ports' : 'is missing',
      );
  });
  reportTwice(discovery.map(labelOf), (index, label) => report(['discovery', index], `${label} is an earlier source`));
}

function reportTwice(values: readonly string[], report: (index: number, value: string) => void): void {
  const seen = new Set<string>();
  values.forEach((value, index) => {
    if (seen.has(value)) report(index, value);
    seen.add(value);
  });
}
