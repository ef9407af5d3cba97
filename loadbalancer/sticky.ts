import type { Balancer } from '../src/index.js';
import { leastLoadedOf } from './least-loaded.js';

/** Session affinity: every call of a program to the engine of its first call, for as long as that engine lives. */
export function sticky(): Balancer {
  return {
    name: 'sticky',
    spills: false,
    readsPrefix: false,
    place: (_call, home) => home,
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => true,
  };
}
