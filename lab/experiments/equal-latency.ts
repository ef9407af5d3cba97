import { number } from '../../text/index.js';

/** The rate at which a policy reaches a latency. */
export interface RateAt {
  /** Null: above the latency from the first rate, or unknown. */
  readonly rate: number | null;
  /** The latency was never reached: the rate is the sweep's last one, and the true rate is higher. */
  readonly isLeast: boolean;
  readonly text: string;
}

/**
 * Finds by linear interpolation the rate at which a latency curve first exceeds the given latency.
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
