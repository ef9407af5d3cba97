/** Bins of durations: each is a fifth longer than the one before, from a millisecond to a day. */
const BIN_RATIO = 1.2;
const BINS = 101;

/** Durations of the events in a step. Its quantiles are within a tenth of the true ones. */
export class Durations {
  readonly #bins = new Map<number, number>();
  count = 0;

  add(ms: number): void {
    const bin = Math.ceil(Math.log(Math.max(1, ms)) / Math.log(BIN_RATIO));
    this.merge([[Math.min(bin, BINS - 1), 1]]);
  }

  merge(bins: Told['queues']): void {
    for (const [bin, events] of bins) {
      this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + events);
      this.count += events;
    }
  }

  toJSON() {
    return [...this.#bins];
  }

  quantileMs(q: number): number | null {
    let left = Math.ceil(q * this.count);
    if (left === 0) return null;
    let bin = -1;
    while (left > 0 && bin < BINS) left -= this.#bins.get(++bin) ?? 0;
    // The middle of the bin; the first bin also holds values below a millisecond.
    return bin === 0 ? 0 : BIN_RATIO ** (bin - 0.5);
  }
}

/** Ratios of two sums by name: cached shares of prompts by engine, means of readings. */
export class Ratios {
  readonly #sums = new Map<string, readonly [sum: number, of: number]>();

  add(name: string, sum: number, of: number): void {
    const [sumBefore, ofBefore] = this.#sums.get(name) ?? [0, 0];
    this.#sums.set(name, [sumBefore + sum, ofBefore + of]);
  }

  merge(all: Told['cached']): void {
    for (const [name, [sum, of]] of all) this.add(name, sum, of);
  }

  /** Null: nothing was added. */
  of(name: string): number | null {
    const [sum, of] = this.#sums.get(name) ?? [0, 0];
    return of === 0 ? null : sum / of;
  }

  /** Of all names together. */
  get whole(): number | null {
    const all = new Ratios();
    for (const [sum, of] of this.#sums.values()) all.add('', sum, of);
    return all.of('');
  }

  toJSON() {
    return [...this.#sums];
  }
}

/** Figures of one moment, by name. A name may be absent, such as a limit that is not known. */
export type Reading = Readonly<Record<string, number>>;

/** A step as gateways tell it each other. */
export type Told = ReturnType<Step['toJSON']>;

/** All that is kept of one stretch of time. */
export class Step {
  readonly completions = new Durations();
  readonly queues = new Durations();
  readonly cached = new Ratios();
  readonly readings = new Ratios();

  /** Adds another step's events; readings stay apart. */
  merge(other: Told): void {
    this.completions.merge(other.completions);
    this.queues.merge(other.queues);
    this.cached.merge(other.cached);
  }

  read(reading: Reading): void {
    for (const [name, value] of Object.entries(reading)) this.readings.add(name, value, 1);
  }

  toJSON() {
    const [completions, queues] = [this.completions.toJSON(), this.queues.toJSON()];
    return { completions, queues, cached: this.cached.toJSON(), readings: this.readings.toJSON() };
  }
}

/** The same stretch of time at several gateways. The gate is that of the engines that they share. */
export function joined(all: readonly Told[]): Step {
  const step = new Step();
  const sums: Record<string, number> = {};
  for (const told of all) {
    step.merge(told);
    for (const [name, [sum, of]] of told.readings)
      sums[name] = sum / of + (name === 'gate_tokens' ? 0 : (sums[name] ?? 0));
  }
  step.read(sums);
  return step;
}

/** Steps of a series that are kept. */
const STEPS = 60;
const NOTHING = new Step();

/** The latest steps of one length. Times are milliseconds on the driver's clock. */
export class Series {
  /** Those in which something happened, by their number since the beginning of the clock. */
  readonly #steps = new Map<number, Step>();

  constructor(readonly stepMs: number) {}

  at(ms: number): Step {
    const index = Math.floor(ms / this.stepMs);
    const step = this.#steps.get(index) ?? new Step();
    this.#steps.set(index, step);
    if (this.#steps.size > STEPS) this.#steps.delete(Math.min(...this.#steps.keys()));
    return step;
  }

  /** The steps up to `nowMs`, oldest first and without gaps. */
  read(nowMs: number): { readonly steps: readonly Step[]; readonly firstMs: number } {
    const first = Math.floor(nowMs / this.stepMs) - STEPS + 1;
    const steps = Array.from({ length: STEPS }, (_, at) => this.#steps.get(first + at) ?? NOTHING);
    return { steps, firstMs: first * this.stepMs };
  }
}
