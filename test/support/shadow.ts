import type { Shadow } from '../../sidecar/index.js';

const replay = { measured_seconds: 41, simulated_seconds: 42, error: 0.02 };
const REPORT: NonNullable<ReturnType<Shadow['latest']>> = {
  made_at: 1_760_000_000,
  window_seconds: 900,
  took_seconds: 0.5,
  pools: [
    {
      models: ['m', 'adapter'],
      engines: 2,
      programs: 64,
      calls: 900,
      doubt: null,
      replay,
      gain: { pass_through_seconds: 54.6, ratio: 1.3, ratio_low: 1.1, ratio_high: 1.5 },
    },
    { models: ['even'], engines: 1, programs: 30, calls: 90, doubt: 'no_difference', replay, gain: null },
    { models: ['other'], engines: 1, programs: 12, calls: 40, doubt: 'few_programs', replay: null, gain: null },
  ],
};

/** One by which programs are slower than without scheduling, in all pools with a figure. @param ageSeconds since it was made */
export const slower = (ageSeconds = 60): Shadow => ({
  ...{ step: () => undefined, configured: () => undefined },
  latest: () => ({
    ...REPORT,
    made_at: Date.now() / 1000 - ageSeconds,
    pools: [{ ...REPORT.pools[0]!, gain: { pass_through_seconds: 35, ratio: 0.8, ratio_low: 0.7, ratio_high: 0.9 } }],
  }),
});

/** An estimate as a gateway gets it: with a figure, without a difference, and with a doubt. */
export const SHADOW: Shadow = { step: () => undefined, configured: () => undefined, latest: () => REPORT };
