import type { Balancer } from '../src/index.js';
import { leastLoadedOf } from './least-loaded.js';

/**
 * Session affinity: every call of a program goes to the engine of its first call while that engine lives. When the
 * engine has no room (429, 503), the program's calls wait for it.
 */
export function sticky(): Balancer {
  return {
    name: 'sticky',
    spills: false,
    place: (_call, home) => home,
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => true,
  };
}
