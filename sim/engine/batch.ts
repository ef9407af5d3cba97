import type { BlockHashes } from './blocks.js';
import { Decoders } from './decoders.js';
import { Heap } from '../heap.js';
import { HostTier, type HostSettings } from './host-tier.js';
import { KvCache } from './kv-cache.js';
import { Loading } from './loading.js';
import { Pages } from './pages.js';
import type { Preset } from './presets.js';
import type { StepWork } from './roofline.js';
import { goesBefore, type Sequence, type Work } from './sequence.js';
import { noTotals } from './totals.js';

export interface EngineSettings {
  readonly preset: Preset;
  readonly blockSize: number;
  /** Host memory as a second tier; absent: none. */
  readonly host?: HostSettings | undefined;
  /** Most calls that a gateway is to have in flight there; absent: its window alone bounds them. */
  readonly windowMax?: number | undefined;
}

/**
 * The sequences of an engine, without its time: those that run together, those that wait, and their KV blocks.
 *
 * In a step, running sequences come first, each with one token of decode or a chunk of its prompt, under one token
 * budget. Waiting ones follow while slots, budget and KV blocks last. A running sequence that finds no block preempts
 * the last one in order of service. It follows that at most one prompt is partly computed: the last admitted.
 */
export class Batch<W extends Work> {
  readonly kv: KvCache;
  readonly host: HostTier | undefined;
  readonly decoders: Decoders<Sequence<W>>;
  readonly waiting = new Heap<Sequence<W>, Sequence>(goesBefore);
  readonly loading: Loading<W> | undefined;
  readonly totals = noTotals();
  readonly #preset: Preset;
  readonly #pages: Pages;
  /** Sequences in prefill: between steps at most one, which continues in chunks. */
  #prefilling: Sequence<W>[] = [];
  /** Whether the decoding sequences have their blocks for the step under way. */
  #hasReserved = false;

  constructor({ preset, blockSize, host }: EngineSettings) {
    this.#preset = preset;
    this.decoders = new Decoders(blockSize);
    if (host !== undefined) this.host = new HostTier(host, preset.kvBytesPerToken, blockSize);
    const evicts =
      host?.writes === 'evicted' ? (prefix: BlockHashes) => this.host?.store(prefix, prefix.length) : undefined;
    this.kv = new KvCache(Math.floor(preset.kvTokens / blockSize), evicts);
    this.#pages = new Pages(this.kv, blockSize);
    if (this.host !== undefined) this.loading = new Loading(this.host, this.#pages, this.waiting, blockSize);
  }

  /** Running sequences. */
  get size(): number {
    return this.decoders.size + this.#prefilling.length;
  }

  /** Whether the first waiting one may find room that it did not find before. */
  get hasRoom(): boolean {
    const { first } = this.waiting;
    const { batchTokens, slots } = this.#preset;
    return (
      first !== undefined && this.size < slots && this.size < batchTokens && first.refusedAtFreed !== this.kv.freed
    );
  }

  /** Whether it has blocks: it runs, or waits with what was loaded. */
  holds(sequence: Sequence<W>): boolean {
    return sequence.state === 'running' || this.loading?.holding.has(sequence) === true;
  }

  /** Drops a sequence that has not ended. */
  drop(sequence: Sequence<W>): void {
    if (sequence.state === 'running') return this.#stopRunning(sequence);
    // The blocks of a load under way are free when it has ended.
    if (sequence.heapIndex >= 0) this.waiting.remove(sequence);
    if (this.loading?.holding.has(sequence) === true) this.loading.leave(sequence);
  }

  /** All running sequences wait again. */
  preemptAll(): void {
    while (this.size > 0) this.#preempt(this.#lastToServe());
  }

  /** Chooses what the next step computes. Returns whether the step after it will differ. */
  fill(now: number): boolean {
    const preempted = this.#reserve();
    // Room just taken from a running sequence does not go to a waiting one.
    if (!preempted) this.#admit(now);
    // Several that hold their loads may leave none of them the room to run.
    while (this.size === 0 && this.loading?.readyAt === Infinity && this.loading.giveUpLast()) this.#admit(now);
    return preempted || this.#prefilling.length > 0;
  }

  /** Completes steps in which all running sequences decode and none finishes. */
  decode(steps: number): void {
    this.kv.take(this.decoders.blocksNeeded(1, steps + 1));
    this.decoders.steps += steps;
    this.totals.steps += steps;
    this.totals.generatedTokens += steps * this.decoders.size;
  }

  /** Completes a step. @returns the sequences that finished, or all that decode, then those whose prefill completed */
  complete(now: number, tellsAll: boolean): readonly Sequence<W>[] {
    this.#hasReserved = false;
    this.decoders.steps += 1;
    this.totals.generatedTokens += this.decoders.size;
    const told = tellsAll ? [...this.decoders.members] : [];
    for (let next = this.decoders.finished; next !== undefined; next = this.decoders.finished) {
      this.#finish(next, now);
      if (!tellsAll) told.push(next);
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
    this.loading?.store(sequence, now);
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
    else this.decoders.join(sequence);
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
      this.decoders.leave(sequence);
      this.#pages.releaseDecoded(sequence, sequence.prefilled + (this.#hasReserved ? 1 : sequence.inStep));
    } else {
      const index = this.#prefilling.indexOf(sequence);
      if (index >= 0) this.#prefilling.splice(index, 1);
      this.#pages.release(sequence);
    }
    sequence.inStep = 0;
  }

  /** Reserves blocks for the next tokens of running sequences. Returns true when one was preempted. */
  #reserve(): boolean {
    let preempted = false;
    const needed = this.decoders.blocksNeeded(0, 1);
    if (needed <= this.kv.free) this.kv.take(needed);
    else preempted = this.#reserveOneByOne();
    this.#hasReserved = true;
    const partial = this.#prefilling[0];
    if (partial === undefined) return preempted;
    const budget = this.#preset.batchTokens - this.decoders.size;
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
    for (const sequence of this.decoders.members) {
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
    for (const sequence of this.decoders.members) sequence.inStep = 0;
    return preempted;
  }

  #admit(now: number): void {
    const { batchTokens, slots } = this.#preset;
    let budget = batchTokens - this.decoders.size - (this.#prefilling[0]?.inStep ?? 0);
    while (budget > 0 && this.size < slots) {
      const sequence = this.waiting.first;
      if (sequence === undefined || sequence.refusedAtFreed === this.kv.freed) return;
      const hitTokens = this.#pages.hitTokens(sequence);
      const load = this.loading?.take(sequence, hitTokens, now);
      if (load === 'taken') continue;
      const tokens = Math.min(sequence.length - hitTokens, budget);
      if (load === 'no room' || !this.#pages.grow(sequence, hitTokens + tokens)) {
        sequence.refusedAtFreed = this.kv.freed;
        return;
      }
      this.waiting.remove(sequence);
      this.loading?.admitted(sequence, hitTokens);
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
    for (const candidate of this.decoders.members) {
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
    this.waiting.add(victim);
    this.totals.preemptions += 1;
  }

  /** The work of the next step. */
  get work(): StepWork {
    const { size, context } = this.decoders;
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
