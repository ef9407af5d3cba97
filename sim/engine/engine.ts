import type { BlockHashes } from './blocks.js';
import { Decoders } from './decoders.js';
import { Heap } from '../heap.js';
import { HostTier, type HostSettings } from './host-tier.js';
import { KvCache } from './kv-cache.js';
import { Pages, type Eviction } from './pages.js';
import { Loading } from './loading.js';
import type { Preset } from './presets.js';
import { contextMs, stepMs, type StepWork } from './roofline.js';
import { goesBefore, Sequence, type Work } from './sequence.js';
import { Stretch } from './stretch.js';
import { noTotals } from './totals.js';

export type { EngineTotals } from './totals.js';
export interface EngineSettings {
  readonly preset: Preset;
  readonly blockSize: number;
  /** Order in which free blocks lose their content; absent: `lru`. */
  readonly eviction?: Eviction;
  /** Host memory as a second tier; absent: none. */
  readonly host?: HostSettings | undefined;
}

/**
 * A vLLM-V1-like engine in the time its driver gives it: pure, no clock, no I/O, no randomness.
 *
 * In a step, running sequences come first, each with one token of decode or a chunk of its prompt, under one token
 * budget. Waiting ones follow while slots, budget and KV blocks last. A running sequence that finds no block preempts
 * the last one in order of service. It follows that at most one prompt is partly computed: the last admitted.
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
  readonly totals = noTotals();
  /** A fault: no step begins, and all requests wait. */
  isStuck = false;

  readonly #settings: EngineSettings;
  readonly #contextMs: number;
  readonly #pages: Pages;
  readonly #waiting = new Heap<Sequence<W>, Sequence>(goesBefore);
  readonly #decoders: Decoders<Sequence<W>>;
  /** Sequences in prefill: between steps at most one, which continues in chunks. */
  #prefilling: Sequence<W>[] = [];
  readonly #loading: Loading<W> | undefined;
  #arrivals = 0;
  #stretch: Stretch | undefined;
  #stepEnd = NaN;
  /** Whether the decoding sequences have their blocks for the step under way. */
  #hasReserved = false;
  #tellsAll = true;

  constructor(settings: EngineSettings) {
    this.#settings = settings;
    this.#contextMs = contextMs(settings.preset);
    this.#decoders = new Decoders(settings.blockSize);
    const { host, preset, blockSize } = settings;
    if (host !== undefined) this.host = new HostTier(host, preset.kvBytesPerToken, blockSize);
    const evicts =
      host?.writes === 'evicted' ? (prefix: BlockHashes) => this.host?.store(prefix, prefix.length) : undefined;
    this.kv = new KvCache(Math.floor(preset.kvTokens / blockSize), evicts);
    this.#pages = new Pages(this.kv, settings.blockSize, settings.eviction);
    if (this.host !== undefined) this.#loading = new Loading(this.host, this.#pages, this.#waiting, blockSize);
    // The longest request allowed always fits alone, so the first in order of service never gets stuck.
    this.maxModelLen = Math.min(settings.preset.maxModelLen, this.kv.size * settings.blockSize);
  }

  get running(): number {
    return this.#decoders.size + this.#prefilling.length;
  }

  get waiting(): number {
    return this.#waiting.size + (this.#loading?.size ?? 0);
  }

  /** End of the step or stretch under way, or of a wait for the host; NaN when there is none. */
  get stepEnd(): number {
    return this.#stepEnd;
  }

  /** Takes a request into the waiting queue; `undefined` when prompt and answer exceed `maxModelLen`. */
  add(work: W, now: number): Sequence<W> | undefined {
    if (work.promptTokens < 1 || work.outputTokens < 1) throw new RangeError('a request needs a prompt and an answer');
    if (work.promptTokens + work.outputTokens > this.maxModelLen) return undefined;
    const sequence = new Sequence(work, this.#arrivals, now);
    const stretch = this.#stretch;
    sequence.stepsBefore = this.totals.steps + (stretch === undefined ? 0 : stretch.over(now) - stretch.done);
    this.#arrivals += 1;
    this.#waiting.add(sequence);
    return sequence;
  }

  /** Ends a request early; its full blocks stay in the prefix cache. False when it had ended already. */
  abort(sequence: Sequence<W>, now: number): boolean {
    if (sequence.state === 'waiting') {
      // The blocks of a load under way are free when it has ended.
      if (sequence.heapIndex >= 0) this.#waiting.remove(sequence);
      if (this.#loading?.holds(sequence) === true) {
        this.#endWithStepOf(now);
        this.#loading.leave(sequence);
      }
    } else if (sequence.state === 'running') {
      // Its cached blocks depend on the completed steps, and every later step is shorter without it.
      this.#endWithStepOf(now);
      this.#stopRunning(sequence);
    } else return false;
    sequence.state = 'aborted';
    sequence.endedAt = now;
    this.totals.aborted += 1;
    return true;
  }

  reset(): void {
    this.kv.reset();
    this.host?.blocks.reset();
  }

  /** The context is used next in this many steps of its program; Infinity: never. */
  foresee(context: string, steps: number, now: number): void {
    this.advance(now);
    if (steps === Infinity) this.kv.close(context);
    else this.kv.foresee(context, steps);
  }

  /**
   * Plans a stretch of up to `stepsMax` steps that starts at `now`; returns when it ends, or `undefined` when there is
   * nothing to do.
   */
  begin(now: number, stepsMax = 1): number | undefined {
    if (this.#stretch !== undefined) throw new Error('a step is under way');
    this.#loading?.end(now);
    while (this.isStuck && this.running > 0) this.#preempt(this.#lastToServe());
    if (this.isStuck) return undefined;
    const preempted = this.#reserveRunning();
    // Room just taken from a running sequence does not go to a waiting one.
    if (!preempted) this.#admitWaiting(now);
    // Several that hold their loads may leave none of them the room to run.
    while (this.running === 0 && this.#loading?.readyAt === Infinity && this.#loading.giveUpLast())
      this.#admitWaiting(now);
    const loadedAt = this.#loading?.readyAt ?? Infinity;
    if (this.running === 0) return loadedAt === Infinity ? undefined : (this.#stepEnd = loadedAt);
    const isOne = preempted || this.#prefilling.length > 0;
    const most = isOne ? 1 : Math.min(stepsMax, this.#decoders.stepsToFinish);
    const firstMs = stepMs(this.#settings.preset, this.#measure());
    const steps = this.#decoders.stepsWithin(this.kv.free, most);
    this.#stretch = new Stretch(now, firstMs, this.#contextMs * this.#decoders.size, steps);
    if (loadedAt < Infinity) this.#stretch.steps = this.#stretch.over(loadedAt) + 1;
    this.#tellsAll = stepsMax === 1;
    this.totals.steps += 1;
    this.#stepEnd = this.#stretch.endOf(this.#stretch.steps);
    return this.#stepEnd;
  }

  /**
   * Ends the stretch after its step that contains `now`, if an addition or abort could change the next step. Returns
   * its new end; NaN when none is under way.
   */
  cut(now: number): number {
    const first = this.#waiting.first;
    const { batchTokens, slots } = this.#settings.preset;
    const hasRoom = this.running < slots && this.running < batchTokens;
    if (hasRoom && first !== undefined && first.refusedAtFreed !== this.kv.freed) this.#endWithStepOf(now);
    return this.#stepEnd;
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
    const now = this.#stepEnd;
    if (Number.isNaN(now)) throw new Error('no step is under way');
    this.#stepEnd = NaN;
    if (stretch === undefined) return [];
    this.#advanceTo(stretch, stretch.steps - 1);
    this.#stretch = undefined;
    this.#hasReserved = false;
    this.#decoders.advance(1);
    this.totals.generatedTokens += this.#decoders.size;
    const told = this.#tellsAll ? [...this.#decoders.members] : [];
    for (let next = this.#decoders.finished; next !== undefined; next = this.#decoders.finished) {
      this.#finish(next, now);
      if (!this.#tellsAll) told.push(next);
    }
    const prefilling = this.#prefilling;
    if (prefilling.length === 0) return told;
    this.#prefilling = [];
    for (const sequence of prefilling) if (this.#completeChunk(sequence, now)) told.push(sequence);
    return told;
  }

  #completeChunk(sequence: Sequence<W>, now: number): boolean {
    const { promptTokens, outputTokens } = sequence.work;
    this.totals.computedPromptTokens += Math.min(sequence.inStep, Math.max(0, promptTokens - sequence.prefilled));
    sequence.prefilled += sequence.inStep;
    sequence.inStep = 0;
    this.#loading?.store(sequence, now);
    if (sequence.prefilled < sequence.length) {
      this.#prefilling.push(sequence);
      return false;
    }
    if (sequence.generated === 0) {
      sequence.firstTokenAt = now;
      this.totals.promptTokens += promptTokens;
    }
    sequence.sample();
    this.totals.generatedTokens += 1;
    if (sequence.generated === outputTokens) this.#finish(sequence, now);
    else this.#decoders.join(sequence);
    return true;
  }

  #finish(sequence: Sequence<W>, now: number): void {
    this.#stopRunning(sequence);
    sequence.state = 'finished';
    sequence.endedAt = now;
    this.totals.finished += 1;
  }

  #stopRunning(sequence: Sequence<W>): void {
    if (sequence.decoding) {
      this.#decoders.leave(sequence);
      this.#pages.releaseDecoded(sequence, sequence.prefilled + (this.#hasReserved ? 1 : sequence.inStep));
    } else {
      const index = this.#prefilling.indexOf(sequence);
      if (index >= 0) this.#prefilling.splice(index, 1);
      this.#pages.release(sequence);
    }
    sequence.inStep = 0;
  }

  #endWithStepOf(now: number): void {
    const stretch = this.#stretch;
    if (stretch === undefined) {
      if (!Number.isNaN(this.#stepEnd)) this.#stepEnd = now;
      return;
    }
    this.advance(now);
    stretch.steps = stretch.done + 1;
    this.#stepEnd = stretch.endOf(stretch.steps);
  }

  #advanceTo(stretch: Stretch, done: number): void {
    const steps = done - stretch.done;
    if (steps <= 0) return;
    this.kv.take(this.#decoders.blocksNeeded(1, steps + 1));
    this.#decoders.advance(steps);
    this.totals.steps += steps;
    this.totals.generatedTokens += steps * this.#decoders.size;
    stretch.done = done;
  }

  /** Reserves blocks for the next tokens of running sequences. Returns true when one was preempted. */
  #reserveRunning(): boolean {
    let preempted = false;
    const needed = this.#decoders.blocksNeeded(0, 1);
    if (needed <= this.kv.free) this.kv.take(needed);
    else preempted = this.#reserveOneByOne();
    this.#hasReserved = true;
    const partial = this.#prefilling[0];
    if (partial === undefined) return preempted;
    const budget = this.#settings.preset.batchTokens - this.#decoders.size;
    const tokens = Math.min(partial.length - partial.prefilled, budget);
    while (partial.state === 'running' && !this.#pages.grow(partial, partial.prefilled + tokens)) {
      preempted = true;
      this.#preempt(this.#lastToServe());
    }
    if (partial.state === 'running') partial.inStep = tokens;
    return preempted;
  }

  /** With too few blocks for all decoding sequences, those admitted first take theirs first. */
  #reserveOneByOne(): boolean {
    let preempted = false;
    for (const sequence of this.#decoders.members) {
      const needed = this.#pages.needsBlock(sequence.computed) ? 1 : 0;
      while (sequence.decoding && needed > this.kv.free) {
        preempted = true;
        this.#preempt(this.#lastToServe());
      }
      // The sequence may have preempted itself.
      if (!sequence.decoding) continue;
      this.kv.take(needed);
      sequence.inStep = 1;
    }
    for (const sequence of this.#decoders.members) sequence.inStep = 0;
    return preempted;
  }

  #admitWaiting(now: number): void {
    const { batchTokens, slots } = this.#settings.preset;
    let budget = batchTokens - this.#decoders.size - (this.#prefilling[0]?.inStep ?? 0);
    while (budget > 0 && this.running < slots) {
      const sequence = this.#waiting.first;
      if (sequence === undefined || sequence.refusedAtFreed === this.kv.freed) return;
      const hitTokens = this.#pages.hitTokens(sequence);
      const load = this.#loading?.take(sequence, hitTokens, now);
      if (load === 'taken') continue;
      const tokens = Math.min(sequence.length - hitTokens, budget);
      if (load === 'no room' || !this.#pages.grow(sequence, hitTokens + tokens)) {
        sequence.refusedAtFreed = this.kv.freed;
        return;
      }
      this.#waiting.remove(sequence);
      this.#loading?.admitted(sequence, hitTokens);
      this.#prefilling.push(sequence);
      sequence.state = 'running';
      sequence.prefilled = hitTokens;
      sequence.inStep = tokens;
      budget -= tokens;
      if (sequence.preemptions > 0) continue;
      sequence.scheduledAt = now;
      sequence.cachedTokens = hitTokens;
      if (this.totals.steps > sequence.stepsBefore) this.totals.waits += 1;
      this.totals.queriedTokens += sequence.work.promptTokens;
      this.totals.hitTokens += hitTokens - sequence.hostTokens;
    }
  }

  #lastToServe(): Sequence<W> {
    let last: Sequence<W> | undefined = this.#prefilling[0];
    for (const candidate of this.#decoders.members) {
      if (last === undefined || goesBefore(last, candidate)) last = candidate;
    }
    return last as Sequence<W>;
  }

  #preempt(victim: Sequence<W>): void {
    this.#stopRunning(victim);
    victim.state = 'waiting';
    victim.prefilled = 0;
    victim.preemptions += 1;
    victim.isLoaded = false;
    this.#waiting.add(victim);
    this.totals.preemptions += 1;
  }

  #measure(): StepWork {
    const { size, context } = this.#decoders;
    const work = { sequences: size, tokens: size, attended: context + size, context: context + size };
    for (const { inStep, prefilled } of this.#prefilling) {
      work.sequences += 1;
      work.tokens += inStep;
      work.attended += inStep * prefilled + (inStep * (inStep + 1)) / 2;
      work.context += prefilled + inStep;
    }
    return work;
  }
}
