import type { Context } from '../context.js';
import type { Scraped } from './scraped.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'shadow'>;

/** The latest estimate of the gain over `pass-through`; a pool without one has no series. */
export function registerShadow(scraped: Scraped, context: Parts): void {
  scraped(
    'shadow_gain_ratio',
    'Mean program time under pass-through over that under the policy in force, estimated: the ratio and its interval.',
    ['model', 'bound'],
    () =>
      (context.shadow?.latest()?.pools ?? []).flatMap(({ models, gain }) => {
        if (gain === null) return [];
        const bounds = { mean: gain.ratio, low: gain.ratio_low, high: gain.ratio_high };
        return Object.entries(bounds).map(([bound, ratio]) => [{ model: models[0] ?? '', bound }, ratio] as const);
      }),
  );
}
