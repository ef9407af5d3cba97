import type { Shadow, ShadowReport } from '../../sidecar/index.js';

const NO_FIGURE = {
  engines: 1,
  programs: 12,
  calls: 40,
  doubt: 'few_programs',
  measuredMs: undefined,
  simulatedMs: undefined,
  fcfsMs: undefined,
  ratio: undefined,
  callError: undefined,
} as const;

const REPORT: ShadowReport = {
  madeAtMs: 1000,
  windowMs: 900_000,
  tookMs: 500,
  pools: [
    {
      models: ['m', 'adapter'],
      engines: 2,
      programs: 64,
      calls: 900,
      doubt: undefined,
      measuredMs: 41_000,
      simulatedMs: 42_000,
      fcfsMs: 54_600,
      ratio: { ratio: 1.3, low: 1.1, high: 1.5 },
      callError: 0.02,
    },
    { ...NO_FIGURE, models: ['other'] },
  ],
};

/** An estimate as a gateway gets it, with a figure for the engines of model `m` alone. */
export const SHADOW: Shadow = { step: () => undefined, configured: () => undefined, latest: () => REPORT };
