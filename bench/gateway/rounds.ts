import { median, ratio, show } from '../numbers.js';
import type { Proxy } from './stage.js';

/** Share of its core below which a proxy waited for the load: its throughput then tells little. */
const BUSY_MIN = 0.9;

/** Figures of each contender, one of each round. */
export type Samples<N extends string, S> = ReadonlyMap<N, readonly S[]>;

/**
 * Samples of all contenders in turns, so that a drift of the machine's speed meets all alike.
 * @param warm rounds before the others, which only warm up
 */
export async function inRounds<C extends { readonly name: string }, S>(
  contenders: readonly C[],
  { warm, rounds }: { readonly warm: number; readonly rounds: number },
  sample: (contender: C, round: number) => Promise<S>,
): Promise<Samples<C['name'], S>> {
  const samples = new Map<C['name'], S[]>(contenders.map(({ name }) => [name, []]));
  for (let round = -warm; round < rounds; round += 1)
    for (const contender of contenders) {
      const one = await sample(contender, round);
      if (round >= 0) samples.get(contender.name)?.push(one);
    }
  return samples;
}

/** Processor time and wall time that the work takes, in ms. */
export async function costOf<T>(proxy: Pick<Proxy, 'cpuMs'>, work: () => Promise<T>) {
  const [cpuBefore, startedAt] = [proxy.cpuMs() ?? NaN, performance.now()];
  const result = await work();
  return { result, cpuMs: (proxy.cpuMs() ?? NaN) - cpuBefore, tookMs: performance.now() - startedAt };
}

/** The same of requests, each with its processor time in microseconds. @throws Error for bad answers */
export async function costOfRequests<T extends { readonly requests: number; readonly bad: number }>(
  proxy: Pick<Proxy, 'cpuMs'> & { readonly name: string },
  work: () => Promise<T>,
) {
  const { result, cpuMs, tookMs } = await costOf(proxy, work);
  if (result.bad > 0) throw new Error(`${proxy.name}: ${result.bad} bad answers`);
  return { ...result, cpuMicros: (cpuMs * 1000) / result.requests, busy: cpuMs / tookMs };
}

/** Of a rate under full load, with the processor time of one item. */
export type RateKey = 'perSecond' | 'cpuMicros' | 'busy';

/** Medians of the samples, and medians of the rounds' ratios or differences to another contender. */
export class Comparison<N extends string, K extends string> {
  constructor(private readonly samples: Samples<N, Readonly<Record<K, number>>>) {}

  middle(name: N, key: K): number {
    return median(this.#of(name).map((sample) => sample[key]));
  }

  ratio(name: N, key: K, base: N): string {
    return ratio(this.#paired(name, key, base, (own, other) => own / other));
  }

  added(name: N, key: K, base: N): string {
    return show(this.#paired(name, key, base, (own, other) => own - other));
  }

  #paired(name: N, key: K, base: N, by: (own: number, other: number) => number): number {
    const others = this.#of(base);
    return median(this.#of(name).map((sample, round) => by(sample[key], others[round]?.[key] ?? NaN)));
  }

  #of(name: N): readonly Readonly<Record<K, number>>[] {
    return this.samples.get(name) ?? [];
  }
}

/** Rate of a contender, marked where it had idle time. */
export const rateText = <N extends string>(compared: Comparison<N, RateKey>, name: N): string =>
  `${compared.middle(name, 'busy') < BUSY_MIN ? '~' : ''}${show(compared.middle(name, 'perSecond'))}`;
