import { number, percent } from '../../sim/report/figures.js';
import type { GeneratorHealth } from '../load.js';

/** From there on lateness shows in the times of calls: a tenth of a typical time to first token. */
const LATE_MS = 20;
/** Of a core. Above it there is no room left for bursts, and what is measured is mostly the load tester. */
const BUSY = 0.85;

/** A sentence when the load tester itself was what held calls up, as a list of none or one. */
export function generatorWarning({ cpuShare, loopLagMs, lateSendMs }: GeneratorHealth): string[] {
  if (lateSendMs.p99 <= LATE_MS && loopLagMs.p99 <= LATE_MS && cpuShare <= BUSY) return [];
  return [
    'The load tester itself was a bottleneck, so that times are longer than the targets made them: ' +
      `calls were sent late by ${lag(lateSendMs)}, its event loop lagged by ${lag(loopLagMs)}, ` +
      `and it used ${percent(cpuShare)} of a core. Use a lower rate, or more processes.`,
  ];
}

const lag = ({ mean, p99, max }: GeneratorHealth['loopLagMs']): string =>
  `${number(mean)} ms in the mean, p99 ${number(p99)}, at most ${number(max)}`;
