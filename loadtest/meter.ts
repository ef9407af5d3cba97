import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Sample } from '../lab/index.js';

/** Sampling interval of the event loop; the histogram counts between two samples. */
const LOOK_MS = 10;
const NS_PER_MS = 1e6;

/** Whether the load tester kept up with its own plan, which limits the accuracy of its measurements. */
export type GeneratorHealth = Readonly<ReturnType<Meter['stop']>>;

/** Watches the load tester itself. */
export class Meter {
  readonly #loop = monitorEventLoopDelay({ resolution: LOOK_MS });
  readonly #late = new Sample(0);
  readonly #cpu = process.cpuUsage();
  readonly #startedAt = performance.now();
  #inFlightMax = 0;
  inFlight = 0;

  constructor() {
    this.#loop.enable();
  }

  sent(lateMs: number): void {
    this.#late.add(Math.max(0, lateMs));
    this.inFlight += 1;
    this.#inFlightMax = Math.max(this.#inFlightMax, this.inFlight);
  }

  ended(): void {
    this.inFlight -= 1;
  }

  /** Ends the watch. */
  stop() {
    this.#loop.disable();
    const { user, system } = process.cpuUsage(this.#cpu);
    const isSeen = this.#loop.count > 0;
    const lag = (ns: number) => (isSeen ? Math.max(0, ns / NS_PER_MS - LOOK_MS) : 0);
    return {
      /** Share of one core, over the run. */
      cpu_share: (user + system) / 1000 / (performance.now() - this.#startedAt),
      loop_lag_ms: { mean: lag(this.#loop.mean), p99: lag(this.#loop.percentile(99)), max: lag(this.#loop.max) },
      /** Delay between planned and actual sending of calls. */
      late_send_ms: spreadOf(this.#late),
      calls_in_flight_max: this.#inFlightMax,
    };
  }
}

/** 0 without values. */
const spreadOf = (sample: Sample) => ({
  mean: sample.mean || 0,
  p99: sample.percentile(0.99) || 0,
  max: sample.max || 0,
});
