import type { Balancer } from '../src/index.js';
import { leastLoadedOf } from './least-loaded.js';

/** Session affinity: a program's calls go to its first engine while that lives, and wait where it has no room. */
export function sticky(): Balancer {
  return {
    name: 'sticky',
    spills: false,
    place: (_call, home) => home,
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => true,
  };
}
