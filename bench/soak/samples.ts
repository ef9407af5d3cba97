import { readdirSync } from 'node:fs';
import { get } from '../../processes/process.js';
import { valuesOf } from '../../sidecar/engines/prometheus.js';
import { cpuMsOf } from '../disturbance.js';
import type { Stage } from './stage.js';
import { mean, median } from '../numbers.js';

const MB = 2 ** 20;
/** Of a histogram of the loop's delay that holds anything. */
const LAG_SECONDS_MIN = 1e-6;
const METRICS = {
  rssMb: ['process_resident_memory_bytes', 1 / MB],
  heapMb: ['nodejs_heap_size_used_bytes', 1 / MB],
  externalMb: ['nodejs_external_memory_bytes', 1 / MB],
  handles: ['nodejs_active_handles', 1],
  timersAndMore: ['nodejs_active_resources', 1],
  // Since the sample before: prom-client begins anew each time it is asked. NaN: its timer has not fired twice since.
  loopP50Ms: ['nodejs_eventloop_lag_p50_seconds', 1000],
  loopP99Ms: ['nodejs_eventloop_lag_p99_seconds', 1000],
  calls: ['maitred_calls_in_system', 1],
  queued: ['maitred_queue_calls', 1],
  inFlight: ['maitred_engine_in_flight_calls', 1],
  programs: ['maitred_programs', 1],
  keptPlaces: ['maitred_kept_places', 1],
  violations: ['maitred_invariant_violations_total', 1],
  accepted: ['maitred_calls_accepted_total', 1],
  ended: ['maitred_calls_ended_total', 1],
} as const satisfies Record<string, readonly [metric: string, factor: number]>;

type Measured = Readonly<Record<keyof typeof METRICS, number>>;

type Looked = 'minutes' | 'sockets' | 'gatewayCpu' | 'enginesCpu' | 'driverCpu';
/** The gateway at one moment, in its own words, and what its process and the others took since the one before. */
export type Sample = Measured & Readonly<Record<Looked, number>>;

/** Milliseconds of processor time so far. */
type Cpu = Readonly<Record<'gateway' | 'engines' | 'driver', number>>;

export class Sampler {
  readonly samples: Sample[] = [];
  readonly #beganAt = performance.now();
  #at = performance.now();
  #cpu: Cpu;

  constructor(private readonly stage: Stage) {
    this.#cpu = this.#read();
  }

  async take(): Promise<Sample> {
    const text = await get(`${this.stage.gateway.url}/metrics`);
    const sum = ([metric, factor]: readonly [string, number]) => {
      const value = valuesOf(text, metric).reduce((total, each) => total + each, 0);
      return metric.includes('_lag_p') && value < LAG_SECONDS_MIN ? NaN : factor * value;
    };
    const measured = Object.fromEntries(Object.entries(METRICS).map(([key, row]) => [key, sum(row)])) as Measured;
    const at = performance.now();
    const cpu = this.#read();
    const cores = (key: keyof Cpu) => Math.max(0, cpu[key] - this.#cpu[key]) / (at - this.#at);
    const sample = {
      minutes: (at - this.#beganAt) / 60_000,
      ...measured,
      sockets: readdirSync(`/proc/${this.stage.gateway.pid}/fd`).length,
      gatewayCpu: cores('gateway'),
      enginesCpu: cores('engines'),
      driverCpu: cores('driver'),
    };
    this.#at = at;
    this.#cpu = cpu;
    this.samples.push(sample);
    return sample;
  }

  #read(): Cpu {
    const { user, system } = process.cpuUsage();
    const engines = this.stage.engines.map(({ pid }) => cpuMsOf(pid) ?? 0);
    return {
      gateway: cpuMsOf(this.stage.gateway.pid) ?? 0,
      // One that was killed and came back began at 0: the sum falls, and that interval counts as none.
      engines: engines.reduce((sum, ms) => sum + ms, 0),
      driver: (user + system) / 1000,
    };
  }
}

type Measure = keyof Sample;

/**
 * Bounds on drift: how much more the last quarter may be than the first, a share of it and so much beside. Lag is also
 * the machine's, so it may double.
 */
const BOUNDS = [
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
] as const;

/** @param samples after the warm-up, oldest first */
export function judge(samples: readonly Sample[]) {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return BOUNDS.map((bound) => {
    const known = (part: readonly Sample[]) => part.filter((sample) => !Number.isNaN(sample[bound.measure]));
    const middle = (part: readonly Sample[]) => median(known(part).map((sample) => sample[bound.measure]));
    // Medians of the first and last quarter.
    const first = middle(samples.slice(0, quarter));
    const last = middle(samples.slice(-quarter));
    const slopePerHour = 60 * slope(known(samples), bound.measure);
    // Written so that what was not measured (NaN) is not flat.
    return { ...bound, first, last, slopePerHour, flat: last <= first * (1 + bound.share) + bound.beside };
  });
}

function slope(samples: readonly Sample[], measure: Measure): number {
  const x0 = mean(samples.map(({ minutes }) => minutes));
  const products = samples.map((sample) => (sample.minutes - x0) * sample[measure]);
  return mean(products) / mean(samples.map(({ minutes }) => (minutes - x0) ** 2));
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
