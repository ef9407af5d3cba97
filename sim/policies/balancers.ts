import { BALANCER_NAMES, makeBalancer, type BalancerName, type BalancerOptions } from '../../loadbalancer/index.js';
import type { Balancer } from '../../src/index.js';
import { prefixAware, type PrefixOf } from './prefix-aware.js';
import { roundRobin } from './round-robin.js';

/** Balancers that exist only in the simulator, to compare with. */
const PEERS = {
  'round-robin': roundRobin,
  'prefix-aware': prefixAware,
} satisfies Record<string, (prefixOf: PrefixOf) => Balancer>;

type PeerName = keyof typeof PEERS;
export type SimBalancerName = BalancerName | PeerName;

/** Every balancer that can be compared: the gateway's, then those of the simulator alone. */
export const SIM_BALANCERS = [...BALANCER_NAMES, ...Object.keys(PEERS)] as readonly SimBalancerName[];

export interface SimBalancerOptions extends Omit<BalancerOptions, 'name'> {
  readonly name: SimBalancerName;
}

/** A fresh balancer. @param prefixOf the beginning of a call's prompt, as the world knows it; absent: none is known */
export function makeSimBalancer(options: SimBalancerOptions, prefixOf: PrefixOf = () => []): Balancer {
  const { name } = options;
  return isPeer(name) ? PEERS[name](prefixOf) : makeBalancer({ ...options, name });
}

const isPeer = (name: SimBalancerName): name is PeerName => name in PEERS;
