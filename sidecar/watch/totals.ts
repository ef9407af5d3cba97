import type { Millis, ProgramGone } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallReport } from '../calls/spec.js';
import { Completions, type CompletionPorts } from '../metrics/completions.js';

/** Length of a step, and the number of steps that are kept. */
const STEP_MS = 5000;
const STEPS = 60;

/** Bins of durations: each is a fifth longer than the one before, from a millisecond to a day. */
const BIN_RATIO = 1.2;
const BINS = 101;

/** Durations of the events in a step. Its quantiles are within a tenth of the true ones. */
class Durations {
  readonly #bins = new Uint32Array(BINS);
  count = 0;
  #sumMs = 0;

  add(ms: number): void {
    const bin = Math.ceil(Math.log(Math.max(1, ms)) / Math.log(BIN_RATIO));
    const at = Math.min(bin, BINS - 1);
    this.#bins[at] = (this.#bins[at] ?? 0) + 1;
    this.count += 1;
    this.#sumMs += ms;
  }

  /** A duration that was counted before has grown. */
  correct(moreMs: number): void {
    this.#sumMs += moreMs;
  }

  merge(other: Durations): void {
    other.#bins.forEach((count, at) => (this.#bins[at] = (this.#bins[at] ?? 0) + count));
    this.count += other.count;
    this.#sumMs += other.#sumMs;
  }

  get meanMs(): number | null {
    return this.count === 0 ? null : this.#sumMs / this.count;
  }

  get p99Ms(): number | null {
    let left = Math.ceil(0.99 * this.count);
    if (left === 0) return null;
    const bin = this.#bins.findIndex((count) => (left -= count) <= 0);
    // The middle of the bin; the first bin also holds values below a millisecond.
    return bin === 0 ? 0 : BIN_RATIO ** (bin - 0.5);
  }
}

class Prompts {
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

class Step {
  readonly completions = new Durations();
  readonly queues = new Durations();
  readonly prompts = new Prompts();
  readonly byEngine = new Map<string, Prompts>();
  outputTokens = 0;
  promoted = 0;

  constructor(readonly index: number) {}

  merge(other: Step): void {
    this.completions.merge(other.completions);
    this.queues.merge(other.queues);
    this.prompts.add(other.prompts.tokens, other.prompts.cached);
    this.outputTokens += other.outputTokens;
    this.promoted += other.promoted;
    for (const [engine, { tokens, cached }] of other.byEngine) this.engine(engine).add(tokens, cached);
  }

  engine(id: string): Prompts {
    let prompts = this.byEngine.get(id);
    if (prompts === undefined) this.byEngine.set(id, (prompts = new Prompts()));
    return prompts;
  }
}

interface TotalsView {
  readonly steps: readonly Step[];
  readonly sum: Step;
  readonly stepMs: number;
  readonly firstStepMs: number;
}

const NOTHING = new Step(NaN);

/** Sums over the last five minutes, in steps of five seconds. Times are milliseconds on the driver's clock. */
export class Totals implements Observer {
  /** Those in which something happened, oldest first. */
  readonly #steps: Step[] = [];
  readonly #completions: Completions;

  constructor(ports: CompletionPorts) {
    const counting = {
      counted: (seconds: number, atMs: number) => this.#at(atMs).completions.add(1000 * seconds),
      corrected: (seconds: number) => this.#at(ports.now()).completions.correct(1000 * seconds),
    };
    this.#completions = new Completions(counting, ports);
  }

  ended(_call: unknown, { queueMs, dispatch, usage }: CallReport, nowMs: Millis): void {
    const step = this.#at(nowMs);
    step.queues.add(queueMs);
    if (dispatch?.reason === 'promoted') step.promoted += 1;
    if (usage === undefined) return;
    step.outputTokens += usage.outputTokens;
    if (usage.cachedTokens === undefined) return;
    step.prompts.add(usage.promptTokens, usage.cachedTokens);
    if (dispatch !== undefined) step.engine(dispatch.engine).add(usage.promptTokens, usage.cachedTokens);
  }

  programGone(gone: ProgramGone): void {
    this.#completions.gone(gone);
  }

  /** The steps up to `now`, oldest first and without gaps, and their sum. */
  read(now: Millis): TotalsView {
    this.#completions.countIdle();
    const first = Math.floor(now / STEP_MS) - STEPS + 1;
    const known = new Map(this.#steps.map((step) => [step.index, step]));
    const steps = Array.from({ length: STEPS }, (_, at) => known.get(first + at) ?? NOTHING);
    const sum = new Step(NaN);
    for (const step of steps) sum.merge(step);
    return { steps, sum, stepMs: STEP_MS, firstStepMs: first * STEP_MS };
  }

  #at(ms: number): Step {
    const index = Math.floor(ms / STEP_MS);
    const before = this.#steps.findLastIndex((step) => step.index <= index);
    const known = this.#steps[before];
    if (known?.index === index) return known;
    const step = new Step(index);
    this.#steps.splice(before + 1, 0, step);
    if (this.#steps.length > STEPS) this.#steps.shift();
    return step;
  }
}
