import { median } from '../numbers.js';
import type { Sample } from './samples.js';

export type Measure = keyof Sample;

/** How much more the last quarter may be than the first: a share of it, and so much beside. */
interface Bound {
  readonly measure: Measure;
  readonly title: string;
  readonly share: number;
  readonly beside: number;
}

/** Bounds on drift during the load. Lag is also the machine's, so it may double. */
export const BOUNDS: readonly Bound[] = [
  { measure: 'rssMb', title: 'resident memory, MB', share: 0.1, beside: 10 },
  { measure: 'heapMb', title: 'heap used, MB', share: 0.1, beside: 10 },
  { measure: 'externalMb', title: 'memory outside the heap, MB', share: 0.1, beside: 5 },
  { measure: 'handles', title: 'handles', share: 0.05, beside: 10 },
  { measure: 'sockets', title: 'open files and sockets', share: 0.05, beside: 10 },
  { measure: 'loopP50Ms', title: 'event-loop delay p50, ms', share: 1, beside: 5 },
  { measure: 'loopP99Ms', title: 'event-loop delay p99, ms', share: 1, beside: 20 },
  { measure: 'calls', title: 'calls in the system', share: 0.05, beside: 10 },
  { measure: 'programs', title: 'programs', share: 0.1, beside: 20 },
  { measure: 'keptPlaces', title: 'kept places', share: 0.5, beside: 50 },
];

export interface Flatness extends Bound {
  /** Medians of the first and last quarter of what was measured after the warm-up. */
  readonly first: number;
  readonly last: number;
  /** Of a line of least squares through all of it. */
  readonly slopePerHour: number;
  readonly flat: boolean;
}

/** @param samples after the warm-up, oldest first */
export function judge(samples: readonly Sample[]): Flatness[] {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return BOUNDS.map((bound) => {
    const known = (part: readonly Sample[]) => part.filter((sample) => !Number.isNaN(sample[bound.measure]));
    const middle = (part: readonly Sample[]) => median(known(part).map((sample) => sample[bound.measure]));
    const first = middle(samples.slice(0, quarter));
    const last = middle(samples.slice(-quarter));
    const slopePerHour = 60 * slope(known(samples), bound.measure);
    // Written so that what was not measured (NaN) is not flat.
    return { ...bound, first, last, slopePerHour, flat: last <= first * (1 + bound.share) + bound.beside };
  });
}

function slope(samples: readonly Sample[], measure: Measure): number {
  const mean = (read: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + read(sample), 0) / samples.length;
  const x0 = mean(({ minutes }) => minutes);
  return mean((sample) => (sample.minutes - x0) * sample[measure]) / mean(({ minutes }) => (minutes - x0) ** 2);
}

/** Bounds on growth once the load is over. */
export const AFTERWARDS: readonly (readonly [measure: Measure, beside: number])[] = [
  ['calls', 0],
  ['queued', 0],
  ['inFlight', 0],
  ['programs', 0],
  ['keptPlaces', 0],
  // A probe of an engine may be under way.
  ['handles', 2],
  ['sockets', 2],
];

/** Figures that have not returned to their values before the load. */
export const notBack = (before: Sample, after: Sample): Measure[] =>
  AFTERWARDS.flatMap(([measure, beside]) => (after[measure] <= before[measure] + beside ? [] : [measure]));
