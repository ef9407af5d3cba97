import type { Participant } from '../../cluster/index.js';
import { engineId, type Elsewhere, type TenantId } from '../../src/index.js';
import type { CallSpec } from '../calls/spec.js';
import type { Context } from '../context.js';
import type { Identity } from '../identity/identity.js';
import { holderKey, identityBy, usedTask } from '../identity/shared-keys.js';

/**
 * Asks the other gateways about a call: its program, and the engine of the response that it continues.
 * @param isRepeated whether it is a repetition that this gateway knows
 * @throws GatewayError `draining` if that has begun meanwhile
 */
export async function askOthers(
  context: Pick<Context, 'checkNotDraining' | 'responses'>,
  cluster: Participant,
  { tenant, facts, identity: own }: Pick<CallSpec, 'tenant' | 'facts' | 'identity'>,
  isRepeated: boolean,
): Promise<{ readonly identity: Identity; readonly elsewhere?: Elsewhere | undefined }> {
  const { previousResponseId: id } = facts;
  const isHeld = id === undefined || context.responses.get(tenant, id) !== undefined;
  const [identity, holder] = await Promise.all([
    identify(cluster, tenant, own),
    isHeld ? undefined : cluster.shared.find(tenant, [holderKey(id)]),
  ]);
  const isMade = own.source === 'none' && identity.source === 'none' && !isRepeated;
  const elsewhere = await cluster.take(identity.program, identity.thread, isMade);
  if (!isHeld && holder !== undefined)
    context.responses.set(tenant, id, { engine: engineId(holder), contextTokens: elsewhere?.contextTokens ?? 0 });
  context.checkNotDraining();
  return { identity, elsewhere };
}

/** The call's identity by another gateway's answers, if the call continues one; otherwise as given. */
export async function identify(cluster: Participant, tenant: TenantId, own: Identity): Promise<Identity> {
  const { sought } = own;
  if (sought === undefined || sought.keys.length === 0) return own;
  const identity = { ...own, sought: undefined };
  const name = await cluster.shared.find(tenant, sought.keys);
  if (name === undefined) return identity;
  const task = usedTask(name);
  // A key with two names has none.
  if (task !== undefined) cluster.shared.remember(tenant, task, '');
  return identityBy(name, sought, identity);
}
