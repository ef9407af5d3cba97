import { number } from '../report/figures.js';

/** The rate at which a policy comes to a latency. */
export interface RateAt {
  /** Null: it is above it from the first, or nothing is known. */
  readonly rate: number | null;
  /** It never came to it: the last rate of the sweep, and the true one is higher. */
  readonly isLeast: boolean;
  readonly text: string;
}

/**
 * Reads a rate off a curve of latencies by straight lines between its points: where it first goes above the latency.
 * @param curve by ascending rate; null where there is no figure
 */
export function rateAt(latency: number, curve: readonly (readonly [rate: number, latency: number | null])[]): RateAt {
  let below: readonly [number, number] | undefined;
  for (const [rate, value] of curve) {
    if (value === null || Number.isNaN(latency)) return known(null, false);
    if (value > latency) {
      if (below === undefined) return known(null, false);
      const [lastRate, lastValue] = below;
      return known(lastRate + ((rate - lastRate) * (latency - lastValue)) / (value - lastValue), false);
    }
    below = [rate, value];
  }
  return known(below?.[0] ?? null, true);
}

function known(rate: number | null, isLeast: boolean): RateAt {
  return { rate, isLeast, text: rate === null ? '-' : `${isLeast ? '> ' : ''}${number(rate)}` };
}
