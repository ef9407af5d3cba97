import { Batch, type EngineSettings } from './batch.js';
import type { HostTier } from './host-tier.js';
import type { KvCache } from './kv-cache.js';
import { contextMs, stepMs } from './roofline.js';
import { Sequence, type Work } from './sequence.js';
import { Stretch } from './stretch.js';
import type { EngineTotals } from './totals.js';

export type { EngineSettings } from './batch.js';
export type { EngineTotals } from './totals.js';

/**
 * A vLLM-V1-like engine in the time its driver gives it: pure, no clock, no I/O, no randomness.
 *
 * A driver adds requests. When no step is under way it calls `begin(now, stepsMax)`, which plans a stretch: one step or
 * several. In a longer stretch all running sequences decode, none finishes before the last step, and no waiting one can
 * be admitted. At its end the driver calls `end()`, which returns the sequences that got a token. Times, hits and
 * preemptions equal those of single steps. A driver that adds or aborts during a stretch then calls `cut(now)`. This
 * ends the stretch after the present step if the next step may differ. Nothing else needs a cut. `advance(now)` brings
 * totals, KV cache and sequences up to date for a look at them in the middle of a stretch.
 *
 * A stretch costs O(sequences that come or go x log n), however many sequences and steps it has. Two cases cost
 * O(running): a preemption, and `stepsMax` 1, which reports every token.
 */
export class Engine<W extends Work = Work> {
  readonly kv: KvCache;
  readonly host: HostTier | undefined;
  readonly maxModelLen: number;
  readonly totals: Readonly<EngineTotals>;
  /** A fault: no step begins, and all requests wait. */
  isStuck = false;
  readonly #batch: Batch<W>;
  readonly #contextMs: number;
  #arrivals = 0;
  #stretch: Stretch | undefined;
  /** End of the step or stretch under way, or of a wait for the host; NaN when there is none. */
  stepEnd = NaN;
  #tellsAll = true;

  constructor(private readonly settings: EngineSettings) {
    this.#batch = new Batch(settings);
    this.#contextMs = contextMs(settings.preset);
    ({ kv: this.kv, host: this.host, totals: this.totals } = this.#batch);
    // The longest request allowed always fits alone, so the first in order of service never gets stuck.
    this.maxModelLen = Math.min(settings.preset.maxModelLen, this.kv.size * settings.blockSize);
  }

  get running(): number {
    return this.#batch.size;
  }

  get waiting(): number {
    return this.#batch.waiting.size + (this.#batch.loading?.size ?? 0);
  }

  /** Takes a request into the waiting queue; `undefined` when prompt and answer exceed `maxModelLen`. */
  add(work: W, now: number): Sequence<W> | undefined {
    if (work.promptTokens < 1 || work.outputTokens < 1) throw new RangeError('a request needs a prompt and an answer');
    if (work.promptTokens + work.outputTokens > this.maxModelLen) return undefined;
    const sequence = new Sequence(work, this.#arrivals, now);
    const stretch = this.#stretch;
    sequence.stepsBefore = this.totals.steps + (stretch === undefined ? 0 : stretch.over(now) - stretch.done);
    this.#arrivals += 1;
    this.#batch.waiting.add(sequence);
    return sequence;
  }

  /** Ends a request early; its full blocks stay in the prefix cache. False when it had ended already. */
  abort(sequence: Sequence<W>, now: number): boolean {
    if (sequence.state !== 'waiting' && sequence.state !== 'running') return false;
    // Its cached blocks depend on the completed steps, and every later step is shorter without it.
    if (this.#batch.holds(sequence)) this.#endWithStepOf(now);
    this.#batch.drop(sequence);
    sequence.state = 'aborted';
    sequence.endedAt = now;
    this.#batch.totals.aborted += 1;
    return true;
  }

  reset(): void {
    this.kv.reset();
    this.host?.blocks.reset();
  }

  /**
   * Plans a stretch of up to `stepsMax` steps that starts at `now`; returns when it ends, or `undefined` when there is
   * nothing to do.
   */
  begin(now: number, stepsMax = 1): number | undefined {
    if (this.#stretch !== undefined) throw new Error('a step is under way');
    const { decoders, loading } = this.#batch;
    loading?.end(now);
    if (this.isStuck) {
      this.#batch.preemptAll();
      return undefined;
    }
    const isOne = this.#batch.fill(now);
    const loadedAt = loading?.readyAt ?? Infinity;
    if (this.running === 0) return loadedAt === Infinity ? undefined : (this.stepEnd = loadedAt);
    const most = isOne ? 1 : Math.min(stepsMax, decoders.stepsToFinish);
    const firstMs = stepMs(this.settings.preset, this.#batch.work);
    const steps = decoders.stepsWithin(this.kv.free, most);
    this.#stretch = new Stretch(now, firstMs, this.#contextMs * decoders.size, steps);
    if (loadedAt < Infinity) this.#stretch.steps = this.#stretch.over(loadedAt) + 1;
    this.#tellsAll = stepsMax === 1;
    this.#batch.totals.steps += 1;
    this.stepEnd = this.#stretch.endOf(this.#stretch.steps);
    return this.stepEnd;
  }

  /**
   * Ends the stretch after its step that contains `now`, if an addition or abort could change the next step. Returns
   * its new end; NaN when none is under way.
   */
  cut(now: number): number {
    if (this.#batch.hasRoom) this.#endWithStepOf(now);
    return this.stepEnd;
  }

  /** Completes the steps of the stretch that have ended at `now`, all but the last step. */
  advance(now: number): void {
    if (this.#stretch !== undefined) this.#advanceTo(this.#stretch, this.#stretch.over(now));
  }

  /**
   * Completes the stretch under way. Returns the sequences that finished, then those whose prefill completed, which
   * yields a token (the first, unless preempted before). Both are in order of admission. With `stepsMax` 1, returns all
   * that got a token.
   */
  end(): readonly Sequence<W>[] {
    const stretch = this.#stretch;
    const now = this.stepEnd;
    if (Number.isNaN(now)) throw new Error('no step is under way');
    this.stepEnd = NaN;
    if (stretch === undefined) return [];
    this.#advanceTo(stretch, stretch.steps - 1);
    this.#stretch = undefined;
    return this.#batch.complete(now, this.#tellsAll);
  }

  #endWithStepOf(now: number): void {
    const stretch = this.#stretch;
    if (stretch === undefined) {
      if (!Number.isNaN(this.stepEnd)) this.stepEnd = now;
      return;
    }
    this.advance(now);
    stretch.steps = stretch.done + 1;
    this.stepEnd = stretch.endOf(stretch.steps);
  }

  #advanceTo(stretch: Stretch, done: number): void {
    if (done > stretch.done) this.#batch.decode(done - stretch.done);
    stretch.done = Math.max(done, stretch.done);
  }
}
