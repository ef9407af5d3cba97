import { KvCache } from './kv-cache.js';
import type { Preset } from './presets.js';
import { stepMs, type StepWork } from './roofline.js';
import { goesBefore, Sequence, type Work } from './sequence.js';
import { WaitingQueue } from './waiting.js';

export type EngineScheduling = 'fcfs' | 'priority';

export interface EngineSettings {
  readonly preset: Preset;
  readonly blockSize: number;
  readonly scheduling: EngineScheduling;
}

/** Running totals since the engine was made. */
export interface EngineTotals {
  /** Prompt tokens of requests whose prefill is complete, cached ones included. */
  promptTokens: number;
  /** Prompt tokens that steps really computed, recomputation after a preemption included. */
  computedPromptTokens: number;
  generatedTokens: number;
  /** Prompt tokens looked up in the prefix cache, and found there; once a request. */
  queriedTokens: number;
  hitTokens: number;
  preemptions: number;
  steps: number;
  finished: number;
  aborted: number;
}

/**
 * A vLLM-V1-like engine, one step at a time, in the time its driver gives it: pure, no clock, no I/O, no randomness.
 *
 * A driver adds requests, and whenever no step is under way calls `begin(now)`, which plans a step and says when it
 * ends; at that time it calls `end()`, which says who got a token. In a step, running sequences come first, each with
 * one token of decode or a chunk of its prompt, under one token budget; then waiting ones while slots, budget and KV
 * blocks last. A running sequence that finds no block preempts the one that comes last in the order of service.
 *
 * A step costs O(sequences in it), an arrival or an abort O(log waiting), whatever the number of requests ever seen.
 */
export class Engine<W extends Work = Work> {
  readonly kv: KvCache;
  readonly maxModelLen: number;
  readonly totals: EngineTotals = {
    promptTokens: 0,
    computedPromptTokens: 0,
    generatedTokens: 0,
    queriedTokens: 0,
    hitTokens: 0,
    preemptions: 0,
    steps: 0,
    finished: 0,
    aborted: 0,
  };

  readonly #settings: EngineSettings;
  readonly #waiting = new WaitingQueue<Sequence<W>>();
  readonly #running: Sequence<W>[] = [];
  readonly #produced: Sequence<W>[] = [];
  readonly #work: StepWork = { sequences: 0, tokens: 0, attended: 0, context: 0 };
  #arrivals = 0;
  #stepEnd = NaN;

  constructor(settings: EngineSettings) {
    this.#settings = settings;
    this.kv = new KvCache(Math.floor(settings.preset.kvTokens / settings.blockSize));
    // What no request can exceed is also what always fits, alone: so the first in the order of service never gets stuck.
    this.maxModelLen = Math.min(settings.preset.maxModelLen, this.kv.size * settings.blockSize);
  }

  get running(): number {
    return this.#running.length;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** When the step under way ends; NaN when none is. */
  get stepEnd(): number {
    return this.#stepEnd;
  }

  /** Takes a request into the waiting queue; `undefined` when prompt and answer exceed `maxModelLen`. */
  add(work: W, now: number): Sequence<W> | undefined {
    if (work.promptTokens < 1 || work.outputTokens < 1) throw new RangeError('a request needs a prompt and an answer');
    if (work.promptTokens + work.outputTokens > this.maxModelLen) return undefined;
    const rank = this.#settings.scheduling === 'priority' ? work.priority : 0;
    const sequence = new Sequence(work, this.#arrivals, rank, now);
    this.#arrivals += 1;
    this.#waiting.add(sequence);
    return sequence;
  }

  /** Ends a request early; its full blocks stay in the prefix cache. False when it had ended already. */
  abort(sequence: Sequence<W>, now: number): boolean {
    if (sequence.state === 'waiting') this.#waiting.remove(sequence);
    else if (sequence.state === 'running') this.#running.splice(this.#running.indexOf(sequence), 1);
    else return false;
    this.#leave(sequence, 'aborted', now);
    this.totals.aborted += 1;
    return true;
  }

  /** Plans a step that starts at `now`; returns when it ends, or `undefined` when there is nothing to do. */
  begin(now: number): number | undefined {
    if (!Number.isNaN(this.#stepEnd)) throw new Error('a step is under way');
    const { budget, preempted } = this.#scheduleRunning();
    // Room just taken from a running sequence is not given to a waiting one.
    if (!preempted) this.#scheduleWaiting(budget, now);
    const work = this.#measure();
    if (work.sequences === 0) return undefined;
    this.totals.steps += 1;
    this.#stepEnd = now + stepMs(this.#settings.preset, work);
    return this.#stepEnd;
  }

  /** Completes the step under way. The sequences that got a token, finished ones included; valid until the next call. */
  end(): readonly Sequence<W>[] {
    const now = this.#stepEnd;
    if (Number.isNaN(now)) throw new Error('no step is under way');
    this.#stepEnd = NaN;
    this.#produced.length = 0;
    let kept = 0;
    for (const sequence of this.#running) {
      if (sequence.inStep > 0) this.#complete(sequence, now);
      if (sequence.state === 'running') this.#running[kept++] = sequence;
    }
    this.#running.length = kept;
    return this.#produced;
  }

  #complete(sequence: Sequence<W>, now: number): void {
    const { promptTokens, outputTokens } = sequence.work;
    this.totals.computedPromptTokens += Math.min(sequence.inStep, Math.max(0, promptTokens - sequence.computed));
    sequence.computed += sequence.inStep;
    sequence.inStep = 0;
    if (sequence.computed < sequence.length) return;
    if (sequence.generated === 0) {
      sequence.firstTokenAt = now;
      this.totals.promptTokens += promptTokens;
    }
    sequence.generated += 1;
    this.totals.generatedTokens += 1;
    this.#produced.push(sequence);
    if (sequence.generated < outputTokens) return;
    this.#leave(sequence, 'finished', now);
    this.totals.finished += 1;
  }

  #leave(sequence: Sequence<W>, state: 'finished' | 'aborted', now: number): void {
    sequence.state = state;
    sequence.endedAt = now;
    sequence.inStep = 0;
    this.kv.release(sequence.blocks);
  }

  #scheduleRunning(): { budget: number; preempted: boolean } {
    let budget = this.#settings.preset.batchTokens;
    let preempted = false;
    for (let index = 0; index < this.#running.length && budget > 0;) {
      const sequence = this.#running[index];
      if (sequence === undefined) break;
      const tokens = Math.min(sequence.length - sequence.computed, budget);
      while (sequence.state === 'running' && !this.#reserve(sequence, tokens)) {
        preempted = true;
        const victimIndex = this.#lastToServe();
        budget += this.#preempt(victimIndex);
        if (victimIndex < index) index -= 1;
      }
      // A sequence that preempted itself has left its place to the next.
      if (sequence.state !== 'running') continue;
      sequence.inStep = tokens;
      budget -= tokens;
      index += 1;
    }
    return { budget, preempted };
  }

  #scheduleWaiting(tokenBudget: number, now: number): void {
    let budget = tokenBudget;
    while (budget > 0 && this.#running.length < this.#settings.preset.slots) {
      const sequence = this.#waiting.first;
      if (sequence === undefined || sequence.refusedAtFreed === this.kv.freed) return;
      const hitBlocks = this.#countHits(sequence);
      const hitTokens = hitBlocks * this.#settings.blockSize;
      const tokens = Math.min(sequence.length - hitTokens, budget);
      if (!this.#admit(sequence, hitBlocks, tokens)) {
        sequence.refusedAtFreed = this.kv.freed;
        return;
      }
      this.#waiting.remove(sequence);
      this.#running.push(sequence);
      sequence.state = 'running';
      sequence.inStep = tokens;
      budget -= tokens;
      if (sequence.preemptions > 0) continue;
      sequence.scheduledAt = now;
      sequence.cachedTokens = hitTokens;
      this.totals.queriedTokens += sequence.work.promptTokens;
      this.totals.hitTokens += hitTokens;
    }
  }

  /** Leading blocks found in the cache, leaving at least one token to compute: the one that yields the next. */
  #countHits(sequence: Sequence<W>): number {
    const { blockHashes } = sequence.work;
    const most = Math.min(blockHashes.length, Math.floor((sequence.length - 1) / this.#settings.blockSize));
    let count = 0;
    while (count < most && this.kv.find(blockHashes[count] ?? NaN) !== undefined) count += 1;
    return count;
  }

  /** Gives a waiting sequence its cached blocks and those of its first tokens, or nothing when they do not all fit. */
  #admit(sequence: Sequence<W>, hitBlocks: number, tokens: number): boolean {
    const { blockSize } = this.#settings;
    const { blockHashes } = sequence.work;
    const blocks = sequence.blocks;
    for (let index = 0; index < hitBlocks; index += 1) {
      const block = this.kv.find(blockHashes[index] ?? NaN);
      if (block === undefined) break;
      this.kv.share(block);
      blocks.push(block);
    }
    sequence.computed = hitBlocks * blockSize;
    sequence.hashedBlocks = hitBlocks;
    if (this.#reserve(sequence, tokens)) return true;
    sequence.computed = 0;
    // Goes back to the recently freed end of the list: a prefix about to be used again should be the last to go.
    this.kv.release(blocks);
    return false;
  }

  /** Blocks for `tokens` more, all or none; those that this fills can be found by other sequences from now on. */
  #reserve(sequence: Sequence<W>, tokens: number): boolean {
    const { blockSize } = this.#settings;
    const until = sequence.computed + tokens;
    const missing = Math.ceil(until / blockSize) - sequence.blocks.length;
    if (missing > this.kv.free) return false;
    for (let count = 0; count < missing; count += 1) sequence.blocks.push(this.kv.take());
    const full = Math.min(Math.floor(until / blockSize), sequence.work.blockHashes.length);
    for (; sequence.hashedBlocks < full; sequence.hashedBlocks += 1) {
      const block = sequence.blocks[sequence.hashedBlocks];
      const hash = sequence.work.blockHashes[sequence.hashedBlocks];
      if (block !== undefined && hash !== undefined) this.kv.register(block, hash);
    }
    return true;
  }

  #lastToServe(): number {
    let last = 0;
    for (let index = 1; index < this.#running.length; index += 1) {
      const candidate = this.#running[index];
      const worst = this.#running[last];
      if (candidate !== undefined && worst !== undefined && goesBefore(worst, candidate)) last = index;
    }
    return last;
  }

  /** Sends a running sequence back to the queue, to be computed again; returns the budget that it gives back. */
  #preempt(index: number): number {
    const [victim] = this.#running.splice(index, 1);
    if (victim === undefined) return 0;
    const refund = victim.inStep;
    victim.inStep = 0;
    victim.state = 'waiting';
    victim.computed = 0;
    victim.hashedBlocks = 0;
    victim.preemptions += 1;
    this.kv.release(victim.blocks);
    this.#waiting.add(victim);
    this.totals.preemptions += 1;
    return refund;
  }

  #measure(): StepWork {
    const work = this.#work;
    work.sequences = 0;
    work.tokens = 0;
    work.attended = 0;
    work.context = 0;
    for (const { inStep, computed } of this.#running) {
      if (inStep === 0) continue;
      work.sequences += 1;
      work.tokens += inStep;
      work.attended += inStep * computed + (inStep * (inStep + 1)) / 2;
      work.context += computed + inStep;
    }
    return work;
  }
}
