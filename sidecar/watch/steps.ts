/** The sum of a name's values, that of the wholes of which they are shares, and what was told of the last. */
type Sum<Name> = readonly [name: Name, sum: readonly [sum: number, of: number, told?: string]];

/** Ratios of two sums by name: cached shares of prompts by engine, means of readings. */
export class Ratios<Name = string> {
  readonly #sums = new Map<Name, Sum<Name>[1]>();

  /** @param of absent: it is one more */
  add(name: Name, sum: number, of = 1, told = this.sumsOf(name)[2]): void {
    const [sumBefore, ofBefore] = this.sumsOf(name);
    const sums = [sumBefore + sum, ofBefore + of] as const;
    this.#sums.set(name, told === undefined ? sums : [...sums, told]);
  }

  merge(all: Iterable<Sum<Name>>): void {
    for (const [name, sums] of all) this.add(name, ...sums);
  }

  sumsOf(name: Name): Sum<Name>[1] {
    return this.#sums.get(name) ?? [0, 0];
  }

  /** Null: nothing was added. */
  of(name: Name): number | null {
    const [sum, of] = this.sumsOf(name);
    return of === 0 ? null : sum / of;
  }

  /** Of all names together. */
  get whole(): number | null {
    return this.count === 0 ? null : this.#total(0) / this.count;
  }

  /** The wholes of all names together. */
  get count(): number {
    return this.#total(1);
  }

  #total(at: 0 | 1): number {
    return [...this.#sums.values()].reduce((total, sum) => total + sum[at], 0);
  }

  [Symbol.iterator](): Iterator<Sum<Name>> {
    return this.#sums.entries();
  }

  toJSON(): Sum<Name>[] {
    return [...this];
  }
}

/** Bins of durations begin at a millisecond; each is a tenth longer than the one before. */
const BIN_RATIO = 1.1;

/** Durations of the events in a step, by bin. Its quantiles are within a tenth of the true ones. */
export class Durations extends Ratios<number> {
  took(ms: number): void {
    this.add(Math.ceil(Math.log(Math.max(1, ms)) / Math.log(BIN_RATIO)), ms);
  }

  /** The mean of the bin where the quantile is: of a few events, their own durations. */
  quantileMs(q: number): number | null {
    let left = Math.ceil(q * this.count);
    const bins = [...this].sort(([a], [b]) => a - b);
    const [bin] = bins.find(([, [, events]]) => (left -= events) <= 0) ?? [];
    return bin === undefined ? null : this.of(bin);
  }
}

/** Figures of one moment, by name. A name may be absent, such as a limit that is not known. */
export type Reading = Readonly<Record<string, number>>;

/** A step, also as gateways tell it each other: in JSON. */
export type Told = Readonly<
  Record<'completions' | 'unanswered' | 'queues', Iterable<Sum<number>>> &
    Record<'cached' | 'readings' | 'ends' | 'left' | 'failures' | 'answers', Iterable<Sum<string>>> &
    Record<'firstTokens', Readonly<Record<string, Iterable<Sum<number>>>>>
>;

/** All that is kept of one stretch of time. */
export class Step {
  readonly completions = new Durations();
  /** Of programs whose last call was not answered. */
  readonly unanswered = new Durations();
  readonly queues = new Durations();
  /** From dispatches to first tokens, by engine. */
  readonly firstTokens = Object.create(null) as Record<string, Durations>;
  readonly cached = new Ratios();
  readonly readings = new Ratios();
  /** Calls by how they ended, `completed` or an error code, and of the last when, the program, and in a further line the engine that failed it. */
  readonly ends = new Ratios();
  /** Calls whose clients left, by whether they were `waiting` or `running`. */
  readonly left = new Ratios();
  /** Attempts that engines failed, of those sent there, by engine, and when and how the last one did. */
  readonly failures = new Ratios();
  /** Good answers of engines in it since they last failed an attempt. */
  readonly answers = new Ratios();

  firstTokensOf(engine: string): Durations {
    return (this.firstTokens[engine] ??= new Durations());
  }

  read(reading: Reading): void {
    for (const [name, value] of Object.entries(reading)) this.readings.add(name, value);
  }
}

/** Readings that gateways share: the gate is that of their engines, and the first to be crowded tells since when all are. */
const SHARED = ['gate_tokens', 'crowded_since'];

/** The same stretch of time at several gateways. */
export function joined(all: readonly Told[]): Step {
  const step = new Step();
  const sums: Record<string, number> = {};
  for (const told of all) {
    for (const name of ['completions', 'unanswered', 'queues'] as const) step[name].merge(told[name]);
    for (const name of ['cached', 'ends', 'left', 'failures', 'answers'] as const) step[name].merge(told[name]);
    for (const [engine, times] of Object.entries(told.firstTokens)) step.firstTokensOf(engine).merge(times);
    for (const [name, [sum, of]] of told.readings)
      sums[name] = SHARED.includes(name) ? Math.min(sum / of, sums[name] ?? Infinity) : sum / of + (sums[name] ?? 0);
  }
  step.read(sums);
  return step;
}

const NOTHING = new Step();
/** Steps that are kept. */
const LENGTH = 60;

/** The latest steps of one length. Times are milliseconds on the driver's clock. */
export class Series {
  /** Those in which something happened, by their number since the beginning of the clock. */
  readonly #steps = new Map<number, Step>();

  constructor(readonly stepMs: number) {}

  at(ms: number): Step {
    const index = Math.floor(ms / this.stepMs);
    const step = this.#steps.get(index) ?? new Step();
    this.#steps.set(index, step);
    if (this.#steps.size > LENGTH) this.#steps.delete(Math.min(...this.#steps.keys()));
    return step;
  }

  /** The steps up to `nowMs`, oldest first and without gaps. */
  read(nowMs: number): { readonly steps: readonly Step[]; readonly firstMs: number } {
    const first = Math.floor(nowMs / this.stepMs) - LENGTH + 1;
    const steps = Array.from({ length: LENGTH }, (_, at) => this.#steps.get(first + at) ?? NOTHING);
    return { steps, firstMs: first * this.stepMs };
  }
}
