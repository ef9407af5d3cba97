import type { Balancer, Candidate } from '../src/index.js';

/** Each call to the next engine in order of joining, whatever it costs. */
export function roundRobin(): Balancer {
  let last = -1;
  return {
    name: 'round-robin',
    spills: true,
    readsPrefix: false,
    place: () => undefined,
    choose<E extends Candidate>(_call: unknown, open: readonly E[]): E {
      const next = open.find((engine) => engine.index > last) ?? open[0];
      last = next.index;
      return next;
    },
    binds: () => false,
  };
}
