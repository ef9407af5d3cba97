import { z } from 'zod';
import type { Dice } from '../dice.js';
import type { Arrivals } from '../workload.js';

/** From a program in thousands of years to a million a second: anything beyond is a typing error. */
const ratePerSecond = z.number().min(1e-9).max(1e6);
/** At 10, nearly all programs come in bursts with very long pauses between them. */
const cv = z.number().min(0).max(10);
const openArrivals = z.strictObject({ type: z.literal('open'), ratePerSecond, cv });

/**
 * Times of arrival in milliseconds from the start: endless, and never decreasing. The times between them are
 * independent and gamma distributed.
 * @throws RangeError when the rate is not above 0, the variation is below 0, or one of them is NaN or absurd.
 */
export function arrivalTimes(arrivals: Extract<Arrivals, { type: 'open' }>, dice: Dice): IterableIterator<number> {
  const result = openArrivals.safeParse(arrivals);
  if (!result.success) throw new RangeError(`bad arrivals: ${z.prettifyError(result.error)}`);
  return times(result.data, dice);
}

function* times({ ratePerSecond, cv }: z.output<typeof openArrivals>, dice: Dice): Generator<number, never> {
  for (let nowMs = 0; ;) {
    nowMs += dice.gammaOf(1000 / ratePerSecond, cv);
    yield nowMs;
  }
}
