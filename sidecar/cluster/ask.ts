import { engineId, type Elsewhere, type TenantId } from '../../src/index.js';
import type { RequestFacts } from '../apis/index.js';
import { checkNotDraining, type Context } from '../context.js';
import type { Identity } from '../identity/identity.js';
import { holderKey } from '../identity/shared-keys.js';
import type { Cluster } from './cluster.js';

/** A request, as far as this gateway alone has identified it. */
interface Asked {
  readonly tenant: TenantId;
  readonly facts: RequestFacts;
  readonly identity: Identity;
  /** Whether it is a repetition that this gateway knows. */
  readonly isRepeated: boolean;
}

/**
 * Asks the other gateways about a call: its program, and the engine of the response that it continues.
 * @throws GatewayError `draining` if that has begun meanwhile
 */
export async function askOthers(
  context: Context,
  cluster: Cluster,
  { tenant, facts, identity: own, isRepeated }: Asked,
): Promise<{ readonly identity: Identity; readonly elsewhere?: Elsewhere | undefined }> {
  const { previousResponseId: id } = facts;
  const isHeld = id === undefined || context.responses.get(tenant, id) !== undefined;
  const [identity, holder] = await Promise.all([
    cluster.identify(tenant, own),
    isHeld ? undefined : cluster.find(tenant, holderKey(id)),
  ]);
  const elsewhere = await cluster.take(identity, own.source === 'none' && identity.source === 'none' && !isRepeated);
  if (!isHeld && holder !== undefined)
    context.responses.hold(tenant, id, { engine: engineId(holder), contextTokens: elsewhere?.contextTokens ?? 0 });
  checkNotDraining(context);
  return { identity, elsewhere };
}
