import { declarations } from './declarations.js';
import type { Experiment } from './experiment.js';
import { parameters } from './parameters.js';
import { rates } from './rates.js';
import { recorded } from './recorded.js';
import { tenants } from './tenants.js';

export const EXPERIMENTS: readonly Experiment[] = [rates, recorded, parameters, tenants, declarations];
