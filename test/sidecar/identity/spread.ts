import { makeRandom } from '../../../bench/numbers.js';
import type { Identifier, Identity } from '../../../sidecar/identity/index.js';
import { identityBy, usedTask } from '../../../sidecar/identity/shared-keys.js';
import { createCaller } from './caller.js';

/**
 * Several gateways with one store, which gives a key of two names none.
 * @param next the gateway of the next call; absent: by chance, from a fixed seed
 */
export function spread(count: number, next?: () => number): Pick<Identifier, 'identify' | 'answered'> {
  const random = makeRandom(3);
  const store = new Map<string, string>();
  const share = (tenant: string, key: string, name: string) => {
    const known = store.get(`${tenant} ${key}`);
    store.set(`${tenant} ${key}`, known === undefined || known === name ? name : '');
  };
  const all = Array.from({ length: count }, (_, n) => {
    let ids = 0;
    return createCaller({ conversationsMax: 100_000, share, newId: () => `${n}-${(ids += 1)}` }).identifier;
  });
  const identified = new WeakMap<Identity, Identifier>();
  return {
    identify(request) {
      const gateway = all[next?.() ?? Math.floor(random() * count)] as Identifier;
      const own = gateway.identify(request);
      const { sought } = own;
      const key = sought?.keys.find((each) => store.has(`${request.tenant} ${each}`));
      const name = key === undefined ? '' : (store.get(`${request.tenant} ${key}`) ?? '');
      const task = usedTask(name);
      if (task !== undefined) share(request.tenant, task, '');
      const identity = sought && name !== '' ? identityBy(name, sought, own) : own;
      identified.set(identity, gateway);
      return identity;
    },
    answered: (identity, request, facts) => identified.get(identity)?.answered(identity, request, facts),
  };
}
