/** Where a call runs: one file a policy, one door. Start with program-affinity.ts, the default. */
import type { Balancer } from '../src/index.js';
import { leastLoaded } from './least-loaded.js';
import { prefixAware } from './prefix-aware.js';
import { programAffinity, type ProgramAffinityOptions } from './program-affinity.js';
import { roundRobin } from './round-robin.js';
import { sticky } from './sticky.js';

export type BalancerName = 'program-affinity' | 'round-robin' | 'least-loaded' | 'sticky' | 'prefix-aware';

export interface BalancerOptions extends ProgramAffinityOptions {
  readonly name: BalancerName;
}

/** A fresh balancer of that name. */
export function makeBalancer(options: BalancerOptions): Balancer {
  switch (options.name) {
    case 'program-affinity':
      return programAffinity(options);
    case 'round-robin':
      return roundRobin();
    case 'least-loaded':
      return leastLoaded();
    case 'sticky':
      return sticky();
    case 'prefix-aware':
      return prefixAware();
  }
}
