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

  toJSON(): Told['queues'] {
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

export class Prompts {
  tokens = 0;
  cached = 0;

  add(tokens: number, cached: number): void {
    this.tokens += tokens;
    this.cached += cached;
  }

  get cachedShare(): number | null {
    return this.tokens === 0 ? null : this.cached / this.tokens;
  }
}

/** Figures of one moment, by name. A name may be absent, such as a limit that is not known. */
export type Reading = Readonly<Record<string, number>>;

export class Means {
  readonly #sums = new Map<string, { sum: number; readings: number }>();

  add(reading: Reading): void {
    for (const [name, value] of Object.entries(reading)) {
      const { sum, readings } = this.#sums.get(name) ?? { sum: 0, readings: 0 };
      this.#sums.set(name, { sum: sum + value, readings: readings + 1 });
    }
  }

  toJSON(): Reading {
    return Object.fromEntries([...this.#sums].map(([name, { sum, readings }]) => [name, sum / readings]));
  }
}

/** A step as gateways tell it each other. */
export interface Told {
  readonly completions: Told['queues'];
  /** Events by bin of their durations. */
  readonly queues: readonly (readonly [number, number])[];
  readonly byEngine: readonly (readonly [string, Pick<Prompts, 'tokens' | 'cached'>])[];
  readonly prompts: Pick<Prompts, 'tokens' | 'cached'>;
  readonly readings: Reading;
}

/** All that is kept of one stretch of time. */
export class Step {
  readonly completions = new Durations();
  readonly queues = new Durations();
  readonly prompts = new Prompts();
  readonly byEngine = new Map<string, Prompts>();
  readonly readings = new Means();

  constructor(readonly index: number) {}

  /** Adds another step's events; readings stay apart. */
  merge(other: Told): void {
    this.completions.merge(other.completions);
    this.queues.merge(other.queues);
    this.prompts.add(other.prompts.tokens, other.prompts.cached);
    for (const [engine, { tokens, cached }] of other.byEngine) this.engine(engine).add(tokens, cached);
  }

  toJSON(): Told {
    const { completions, queues, prompts, byEngine, readings } = this;
    return {
      completions: completions.toJSON(),
      queues: queues.toJSON(),
      prompts,
      byEngine: [...byEngine],
      readings: readings.toJSON(),
    };
  }

  engine(id: string): Prompts {
    let prompts = this.byEngine.get(id);
    if (prompts === undefined) this.byEngine.set(id, (prompts = new Prompts()));
    return prompts;
  }
}

/** The same stretch of time at several gateways. The gate is that of the engines that they share. */
export function joined(all: readonly Told[]): Step {
  const step = new Step(NaN);
  const sums: Record<string, number> = {};
  for (const told of all) {
    step.merge(told);
    for (const [name, value] of Object.entries(told.readings))
      sums[name] = name === 'gate_tokens' ? value : (sums[name] ?? 0) + value;
  }
  step.readings.add(sums);
  return step;
}

/** Steps of a series that are kept. */
const STEPS = 60;
const NOTHING = new Step(NaN);

/** The latest steps of one length. Times are milliseconds on the driver's clock. */
export class Series {
  /** Those in which something happened, oldest first. */
  readonly #steps: Step[] = [];

  constructor(readonly stepMs: number) {}

  at(ms: number): Step {
    const index = Math.floor(ms / this.stepMs);
    const before = this.#steps.findLastIndex((step) => step.index <= index);
    const known = this.#steps[before];
    if (known?.index === index) return known;
    const step = new Step(index);
    this.#steps.splice(before + 1, 0, step);
    if (this.#steps.length > STEPS) this.#steps.shift();
    return step;
  }

  /** The steps up to `nowMs`, oldest first and without gaps. */
  read(nowMs: number): { readonly steps: readonly Step[]; readonly firstMs: number } {
    const first = Math.floor(nowMs / this.stepMs) - STEPS + 1;
    const known = new Map(this.#steps.map((step) => [step.index, step]));
    const steps = Array.from({ length: STEPS }, (_, at) => known.get(first + at) ?? NOTHING);
    return { steps, firstMs: first * this.stepMs };
  }
}
