import type { Balancer, Candidate } from '../src/index.js';

/** The engine with least work in tokens; then fewest calls; then the one that joined first. */
export function leastLoadedOf<E extends Candidate>(open: readonly E[]): E {
  return open.reduce((best, engine) => (lighter(engine, best) ? engine : best));
}

function lighter(a: Candidate, b: Candidate): boolean {
  if (a.loadTokens !== b.loadTokens) return a.loadTokens < b.loadTokens;
  if (a.inFlight !== b.inFlight) return a.inFlight < b.inFlight;
  return a.index < b.index;
}

/** Sends each call to the least-loaded engine, regardless of its program. */
export function leastLoaded(): Balancer {
  return {
    name: 'least-loaded',
    spills: true,
    place: () => undefined,
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => false,
  };
}
