import { balancers } from './balancers.js';
import { declarations } from './declarations.js';
import type { Experiment } from './experiment.js';
import { mismeasured } from './mismeasured.js';
import { parameters } from './parameters.js';
import { rates } from './rates.js';
import { recorded } from './recorded.js';
import { starvation } from './starvation.js';
import { tenants } from './tenants.js';

export const EXPERIMENTS: readonly Experiment[] = [
  rates,
  recorded,
  balancers,
  parameters,
  starvation,
  tenants,
  declarations,
  mismeasured,
];
