import type { z } from 'zod';
import { queueMsLeast } from '../../src/index.js';
import { idOf, isSelf } from '../engines/address.js';
import { labelOf } from './engines.js';
import { configKeys, tenantsOf, type Config } from './schema.js';

/** A configuration is complete and without contradictions. */
export const configSchema = configKeys.superRefine(checkConsistency);

/** One by which a gateway can listen: none of its engines is where it would meet itself. */
export const servedSchema = configSchema.superRefine((config, context) => {
  config.engines.forEach((engine, index) => {
    const section = (['listen', 'admin'] as const).find((each) => isSelf(engine, config[each]));
    if (section === undefined) return;
    const message = `is where this gateway is to listen: give it another port (${listenKey(section, 'port')})`;
    context.addIssue({ code: 'custom', path: ['engines', index, 'url'], message });
  });
});

/** The flag and the key of a listener’s port or host. */
export const listenKey = (section: 'listen' | 'admin', name: 'host' | 'port'): string =>
  section === 'listen' ? `--${name}, or listen.${name}` : `admin.${name}`;

/** Keys of a section, of which the second is never the smaller. */
const ORDERED = [
  ['admission', 'windowMin', 'windowMax'],
  ['admission', 'windowMin', 'windowInitial'],
  ['admission', 'windowInitial', 'windowMax'],
  ['limits', 'queuedPerTenantMax', 'queuedMax'],
  ['health', 'backoffMs', 'backoffMsMax'],
] as const;

/** Contradictions between keys, which no single key's range can catch; each with the path of the key to change. */
function checkConsistency(config: Config, context: z.core.$RefinementCtx): void {
  const report = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  const { policy, starvation, admission, limits, timeouts, listen, admin, auth, cluster } = config;
  for (const [section, key, most] of ORDERED) {
    const { [key]: value = 0, [most]: limit = 0 } = config[section] as Readonly<Record<string, number>>;
    if (value > limit) report([section, key], `must be at most ${section}.${most}, which is ${limit}`);
  }
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
    report(['engines', index, 'id'], `"${id}" is the id of an earlier engine: name each once, or give it another id`);
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
  const needKeys = (path: readonly string[], named: object, what: string) => {
    for (const tenant of Object.keys(named).filter((each) => !tenants.has(each)))
      report([...path, tenant], `has no key in auth.keys, so the ${what} would have no effect`);
  };
  needKeys(['policy', 'tenantWeights'], policy.tenantWeights, 'weight');
  needKeys(['budget', 'tenants'], config.budget.tenants, 'budget');
  needKeys(['objectives', 'tenants'], config.objectives.tenants, 'objective');
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
