import type { Balancer, Candidate } from '../../src/index.js';

/** Sends each call to the next engine in order of joining, regardless of its cost. */
export function roundRobin(): Balancer {
  let last = -1;
  return {
    name: 'round-robin',
    spills: true,
    place: () => undefined,
    choose<E extends Candidate>(_call: unknown, open: readonly E[]): E {
      const next = open.reduce((best, engine) => (turn(engine, last) < turn(best, last) ? engine : best));
      last = next.index;
      return next;
    },
    binds: () => false,
  };
}

/** Sort key: engines after the last one first, then round from the start. */
function turn(engine: Candidate, last: number): number {
  return engine.index > last ? engine.index - Number.MAX_SAFE_INTEGER : engine.index;
}
