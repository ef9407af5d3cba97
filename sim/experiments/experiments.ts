import type { Experiment } from './experiment.js';
import { rates } from './rates.js';

/** The standing experiments, in the order of the report. */
export const EXPERIMENTS: readonly Experiment[] = [rates];
