/** Balancers choose the engine of a call, one file a policy. Start with program-affinity.ts, the default. */
import type { Balancer } from '../src/index.js';
import { leastLoaded } from './least-loaded.js';
import { programAffinity, type ProgramAffinityOptions } from './program-affinity.js';
import { sticky } from './sticky.js';

export { leastLoadedOf } from './least-loaded.js';

/** All balancers. A new one is a file here and a line below. */
const BALANCERS = {
  'program-affinity': programAffinity,
  'least-loaded': leastLoaded,
  sticky,
} satisfies Record<string, (options: ProgramAffinityOptions) => Balancer>;

export type BalancerName = keyof typeof BALANCERS;
export const BALANCER_NAMES = Object.keys(BALANCERS) as [BalancerName, ...BalancerName[]];

export interface BalancerOptions extends ProgramAffinityOptions {
  readonly name: BalancerName;
}

/** The shipped options. `thresholdTokens` is Autellix's (Alg. 2). */
export const defaults = {
  name: 'program-affinity',
  thresholdTokens: 2048,
  adaptThreshold: true,
} as const satisfies BalancerOptions;

/** A fresh balancer of that name. @throws RangeError when there is none, as an untyped caller may ask */
export function makeBalancer(options: BalancerOptions = defaults): Balancer {
  if (!Object.hasOwn(BALANCERS, options.name))
    throw new RangeError(`balancer.name is none of ${BALANCER_NAMES.join(', ')}: ${options.name}`);
  return BALANCERS[options.name](options);
}

/** The balancer in use; rebuilt, without its memory, only when its options change. */
export class BalancerInUse {
  #balancer: Balancer | undefined;
  #madeOf = '';

  for(options: BalancerOptions): Balancer {
    const { name, thresholdTokens, adaptThreshold } = options;
    const madeOf = JSON.stringify([name, thresholdTokens, adaptThreshold]);
    if (this.#balancer !== undefined && madeOf === this.#madeOf) return this.#balancer;
    this.#madeOf = madeOf;
    return (this.#balancer = makeBalancer(options));
  }
}
